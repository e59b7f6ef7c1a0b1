"""Secrets and what they allow: passwords, API tokens, browser sessions, roles and scopes.

Refuses to know where they are kept. Passwords are argon2id hashes. Tokens and cookies are 256 random bits, of which
only the SHA-256 is ever stored: a stolen database opens no door.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from functools import cache
from typing import TYPE_CHECKING, Final

from arena.errors import ArenaError

if TYPE_CHECKING:
    from argon2 import PasswordHasher

TOKEN_PREFIX: Final = "arena_"  # noqa: S105 - how tokens begin
MIN_PASSWORD: Final = 10
"""The fewest characters of a password."""
MAX_PASSWORD: Final = 1000

ROLES: Final = ("author", "organiser", "admin")
SCOPES: Final = ("read", "submit", "organise", "admin", "worker")
_ALLOWED: Final = {
    "author": frozenset({"read", "submit"}),
    "organiser": frozenset({"read", "submit", "organise"}),
    "admin": frozenset(SCOPES),
}

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9_-]{0,38}[a-z0-9])?", re.ASCII)


class CredentialError(ArenaError, ValueError):
    """A name, password, role or scope that cannot be used; the message says what can."""


def scopes_of(role: str) -> frozenset[str]:
    """All that a role may do. Raises CredentialError for an unknown role."""
    if role not in _ALLOWED:
        raise CredentialError(f"no role {role!r}; there are {', '.join(ROLES)}")
    return _ALLOWED[role]


def read_scopes(text: str) -> tuple[str, ...]:
    """Scopes from a list separated by blanks or commas, in their own order. Raises CredentialError."""
    words = set(text.replace(",", " ").split())
    if unknown := sorted(words - set(SCOPES)):
        raise CredentialError(f"no scope {unknown[0]!r}; there are {', '.join(SCOPES)}")
    if not words:
        raise CredentialError(f"no scope at all; there are {', '.join(SCOPES)}")
    return tuple(scope for scope in SCOPES if scope in words)


def read_name(text: str, noun: str) -> str:
    """The name of a user or a bot, as it stands in addresses. Raises CredentialError with the rule."""
    if not _NAME.fullmatch(text):
        raise CredentialError(
            f"{noun} name {text[:60]!r}: write 1 to 40 lower-case letters, digits, - and _, "
            "with a letter or a digit at both ends"
        )
    return text


@cache
def _hasher() -> PasswordHasher:
    from argon2 import PasswordHasher

    return PasswordHasher()


def hash_password(password: str) -> str:
    """The argon2id hash of a password; takes a good part of a second. Raises CredentialError for a poor one."""
    if not MIN_PASSWORD <= len(password) <= MAX_PASSWORD:
        raise CredentialError(f"a password has {MIN_PASSWORD} to {MAX_PASSWORD} characters")
    return _hasher().hash(password)


@cache
def _decoy() -> str:
    return _hasher().hash(secrets.token_urlsafe())


def verify_password(stored: str | None, password: str) -> bool:
    """Whether a password is the one; as slow for a user without one, so that time tells nothing."""
    from argon2.exceptions import Argon2Error, InvalidHashError

    try:
        _hasher().verify(stored or _decoy(), password[:MAX_PASSWORD])
    except (Argon2Error, InvalidHashError):
        return False
    return stored is not None and len(password) <= MAX_PASSWORD


def new_password() -> str:
    """A random password a person can type."""
    return "-".join(secrets.token_hex(3) for _ in range(4))


def new_secret(prefix: str = "") -> str:
    """256 random bits as text."""
    return prefix + secrets.token_urlsafe(32)


def new_token() -> str:
    """A fresh API token: `arena_` and 43 characters."""
    return new_secret(TOKEN_PREFIX)


def digest_of(secret: str) -> str:
    """What is stored of a token or a cookie."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()
