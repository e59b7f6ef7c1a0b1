"""Passwords, API tokens, browser sessions, roles and scopes.

Passwords are argon2id hashes. Tokens and cookies are 256 random bits, of which only the SHA-256 is stored, so a stolen
database contains no usable secret.
"""

from __future__ import annotations

import hashlib
import secrets
from functools import cache
from typing import TYPE_CHECKING, Final

from arena.names import NAME_RULE, is_name
from referee.errors import ArenaError

if TYPE_CHECKING:
    from argon2 import PasswordHasher

TOKEN_PREFIX: Final = "arena_"  # noqa: S105 - a prefix, not a secret
MIN_PASSWORD: Final = 10
"""Minimum length of a password."""
MAX_PASSWORD: Final = 1000
MIN_DIFFERENT: Final = 5
"""Minimum number of different characters in a password."""
_DECORATION: Final = "0123456789!.?*#$_- "
"""Characters that people add around a word to form a password."""

ROLES: Final = ("author", "organiser", "admin")
SCOPES: Final = ("read", "submit", "organise", "admin", "worker")
_ALLOWED: Final = {
    "author": frozenset({"read", "submit"}),
    "organiser": frozenset({"read", "submit", "organise"}),
    "admin": frozenset(SCOPES),
}


class CredentialError(ArenaError, ValueError):
    """An invalid name, password, role or scope; the message gives the valid ones."""


def scopes_of(role: str) -> frozenset[str]:
    """Return all scopes of a role. Raises CredentialError for an unknown role."""
    if role not in _ALLOWED:
        raise CredentialError(f"unknown role {role!r}; choose from {', '.join(ROLES)}")
    return _ALLOWED[role]


def read_scopes(text: str) -> tuple[str, ...]:
    """Parse scopes separated by blanks or commas; return them in canonical order. Raises CredentialError."""
    words = set(text.replace(",", " ").split())
    if unknown := sorted(words - set(SCOPES)):
        raise CredentialError(f"unknown scope {unknown[0]!r}; choose from {', '.join(SCOPES)}")
    if not words:
        raise CredentialError(f"missing scope; choose from {', '.join(SCOPES)}")
    return tuple(scope for scope in SCOPES if scope in words)


def read_name(text: str, noun: str) -> str:
    """Return the name of a user or bot unchanged if it is valid. Raises CredentialError with the rule."""
    if not is_name(text):
        raise CredentialError(f"invalid {noun} name {text[:60]!r}; write {NAME_RULE}")
    return text


@cache
def _hasher() -> PasswordHasher:
    from argon2 import PasswordHasher

    return PasswordHasher()


def check_password(password: str, name: str = "") -> None:
    """Reject a password of the user `name` that is easy to guess. Raises CredentialError with the reason."""
    if not MIN_PASSWORD <= len(password) <= MAX_PASSWORD:
        raise CredentialError(f"a password must have {MIN_PASSWORD} to {MAX_PASSWORD} characters")
    if not password.isprintable():
        raise CredentialError("a password must not contain NUL, tabs, line breaks or other invisible characters")
    plain = password.lower()
    if name and name.lower() in plain and not plain.replace(name.lower(), "").strip(_DECORATION):
        raise CredentialError("this password is little more than the user's name; choose another one")
    if len(set(plain)) < MIN_DIFFERENT or (plain.strip(_DECORATION) or plain) in _common_passwords():
        raise CredentialError("this password is easy to guess; choose another one")


@cache
def _common_passwords() -> frozenset[str]:
    """Return common words and keyboard rows, which attackers guess first, alone or with digits around them."""
    words = """
        password passwort passw0rd p@ssword p@ssw0rd passwordpassword changeme letmein welcome administrator admin
        root qwerty qwertyui qwertyuio qwertyuiop qwertz qwertzuiop azerty azertyuiop asdfghjkl asdfghjklqw zxcvbnm
        1q2w3e4r 1q2w3e4r5t 1qaz2wsx3e q1w2e3r4t5 1234567890 0123456789 0987654321 9876543210 12345678910 123456789a
        a123456789 abcdefghij abcdefghijk abcd abc abc123abc iloveyou iloveyouu sunshine princess football baseball
        basketball superman batman dragon monkey master shadow trustno1 starwars pokemon whatever computer internet
        secret michael jennifer jordan hunter liverpool chelsea manchester arsenal correcthorse
        correcthorsebatterystaple arena botarena bot-arena test testtest guest default
        """
    return frozenset(words.split())


def hash_password(password: str, name: str = "") -> str:
    """Return the argon2id hash of a password of the user `name`; takes a good part of a second.

    Raises the errors of `check_password`.
    """
    check_password(password, name)
    return _hasher().hash(password)


@cache
def _decoy_hash() -> str:
    return _hasher().hash(secrets.token_urlsafe())


def verify_password(stored: str | None, password: str) -> bool:
    """Return whether the password is right. Takes as long for an unknown user, so that the time reveals nothing."""
    from argon2.exceptions import Argon2Error, InvalidHashError

    try:
        _hasher().verify(stored or _decoy_hash(), password[:MAX_PASSWORD])
    except (Argon2Error, InvalidHashError):
        return False
    return stored is not None and len(password) <= MAX_PASSWORD


def new_password() -> str:
    """Generate a random password that is easy to type."""
    return "-".join(secrets.token_hex(3) for _ in range(4))


def new_secret(prefix: str = "") -> str:
    """Generate 256 random bits as text."""
    return prefix + secrets.token_urlsafe(32)


def new_token() -> str:
    """Generate an API token: `arena_` and 43 characters."""
    return new_secret(TOKEN_PREFIX)


def digest_of(secret: str) -> str:
    """Return the SHA-256 of a token or cookie, as it is stored."""
    # No slow hash: 256 random bits cannot be guessed. aiohttp keeps bytes of headers that are not UTF-8 as surrogates.
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()
