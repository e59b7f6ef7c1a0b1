"""API tokens: made, shown this once, revoked."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from arena.errors import ForbiddenError
from arena.services.arena import Arena
from arena.store import BadValueError, Identity
from arena.store.credentials import digest_of, new_token
from arena.store.models import Token, User, now

MAX_NAME = 80


def make(arena: Arena, name: str, scopes: Iterable[str], days: int | None, by: Identity) -> tuple[Token, str]:
    """A token that may do no more than who asks, for so many days or for ever; with its secret, which is kept nowhere.

    Raises BadValueError, ForbiddenError.
    """
    wanted = list(scopes)
    if missing := sorted(set(wanted) - by.scopes):
        hint = f"yours are {', '.join(sorted(by.scopes))}"
        raise ForbiddenError(f"you cannot give away the scope {missing[0]!r}", field="scopes", hint=hint)
    return _make(arena, by.user_id, name, wanted, days)


def give(arena: Arena, user: User, name: str, scopes: Iterable[str], days: int | None = None) -> tuple[Token, str]:
    """A token of another user, from those who run the arena. Raises BadValueError, CredentialError."""
    assert user.id is not None
    return _make(arena, user.id, name, list(scopes), days)


def _make(arena: Arena, user_id: int, name: str, scopes: list[str], days: int | None) -> tuple[Token, str]:
    if not name or len(name) > MAX_NAME or not name.isprintable():
        hint = "such as the machine it is for"
        raise BadValueError(f"a token has a name of 1 to {MAX_NAME} characters", hint=hint, field="name")
    secret = new_token()
    expires = now() + timedelta(days=days) if days else None
    row = arena.store.users.add_token(user_id, name, digest_of(secret), " ".join(scopes), expires)
    arena.store.audit.note("token.make", f"token:{row.id}", user_id, scopes=row.scopes)
    return row, secret


def revoke(arena: Arena, token_id: int, by: Identity) -> None:
    """Make one of one's own tokens useless for good. Twice is as good as once. Raises NotFoundError."""
    arena.store.users.revoke(by.user_id, token_id)
    arena.note("token.revoke", f"token:{token_id}", by)
