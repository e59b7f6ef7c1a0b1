"""Secrets and what they allow: tokens, session cookies, passwords, roles and scopes. Refuses to know database and HTTP.

Tokens and cookies are 256 random bits, so a plain SHA-256 of them is kept; passwords are weak, so Argon2id.
"""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

if TYPE_CHECKING:
    from argon2 import PasswordHasher

Role: TypeAlias = Literal["author", "organiser", "admin"]
Scope: TypeAlias = Literal["read", "submit", "organise", "admin", "worker"]

ROLES: tuple[Role, ...] = get_args(Role)
SCOPES: tuple[Scope, ...] = get_args(Scope)

_IMPLIED: Mapping[Scope, frozenset[Scope]] = {
    "read": frozenset({"read"}),
    "submit": frozenset({"read", "submit"}),
    "organise": frozenset({"read", "submit", "organise"}),
    "admin": frozenset(SCOPES),
    "worker": frozenset({"read", "worker"}),
}
_OF_ROLE: Mapping[str, Scope] = {"author": "submit", "organiser": "organise", "admin": "admin"}

_TOKEN = re.compile(r"arena_[A-Za-z0-9_-]{43}", re.ASCII)

MIN_PASSWORD = 10
MAX_PASSWORD = 256


def scopes_of(role: str) -> frozenset[Scope]:
    """Everything a role may do. An unknown role may only read."""
    return _IMPLIED[_OF_ROLE.get(role, "read")]


def reach(scopes: Iterable[str], role: str) -> frozenset[Scope]:
    """What a token with these scopes may do in the hands of a user of this role: never more than the role."""
    wide: set[Scope] = set()
    for scope in scopes:
        for known in SCOPES:
            if scope == known:
                wide |= _IMPLIED[known]
    return frozenset(wide) & scopes_of(role)


def new_token() -> str:
    """A fresh API token: `arena_` and 43 characters."""
    return "arena_" + new_key()


def new_key() -> str:
    """256 random bits as 43 characters of base64url: a session's cookie, a form's token."""
    return base64.urlsafe_b64encode(secrets.token_bytes(32)).rstrip(b"=").decode()


def is_token(text: str) -> bool:
    """Whether a text has the form of an API token; nothing else is worth a look into the database."""
    return _TOKEN.fullmatch(text) is not None


def digest(secret: str) -> str:
    """What is stored of a token or cookie: its SHA-256 in hex."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def same(one: str, other: str) -> bool:
    """Whether two secrets are equal, in a time that does not tell where they differ."""
    return secrets.compare_digest(one.encode("utf-8", "replace"), other.encode("utf-8", "replace"))


def new_password() -> str:
    """A password for a first log-in: 20 characters, 103 bits."""
    letters = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789"
    return "".join(secrets.choice(letters) for _ in range(20))


@cache
def _hasher() -> PasswordHasher:
    from argon2 import PasswordHasher

    return PasswordHasher(time_cost=3, memory_cost=64 * 1024, parallelism=1)


def hash_password(password: str) -> str:
    """The Argon2id hash of a password; takes a fifth of a second and 64 MiB: not in an event loop."""
    return _hasher().hash(password)


@cache
def _nobody() -> str:
    return hash_password(new_password())


def verify_password(stored: str | None, password: str) -> bool:
    """Whether the password is right. Without a stored hash it takes as long, so that names cannot be guessed by time."""
    from argon2.exceptions import Argon2Error, InvalidHashError

    try:
        _hasher().verify(stored or _nobody(), password)
    except (Argon2Error, InvalidHashError):
        return False
    return stored is not None
