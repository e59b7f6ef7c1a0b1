"""API tokens: created, shown once, revoked."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from arena.clock import now
from arena.credentials import digest_of, new_token, scopes_of
from arena.documents.account import NewToken, TokenItem, UserItem
from arena.documents.attributes import of_attributes
from arena.documents.identity import Identity
from arena.errors import BadValueError, ForbiddenError
from arena.services.arena import Arena

MAX_NAME = 80
TOKEN_DAYS = 90
"""Default lifetime of a token."""
NEVER = 0
"""Number of days for a token that lasts until it is revoked."""


def of(arena: Arena, by: Identity) -> list[TokenItem]:
    """Return the caller's tokens, oldest first, including revoked ones."""
    return arena.store.users.tokens(by.user_id)


def of_user(arena: Arena, user: UserItem) -> list[TokenItem]:
    """Return the tokens of a user, oldest first, including revoked ones."""
    return arena.store.users.tokens(user.id)


def create(arena: Arena, name: str, scopes: Iterable[str], days: int | None, by: Identity) -> NewToken:
    """Create a token with at most the caller's scopes. Its secret is not stored.

    It expires after `days`: None is `TOKEN_DAYS`, 0 is never. A token made with another token ends with that token.
    Raises BadValueError, ForbiddenError.
    """
    wanted = list(scopes)
    if missing := sorted(set(wanted) - by.scopes):
        hint = f"yours are {', '.join(sorted(by.scopes))}"
        raise ForbiddenError(f"you cannot grant the scope {missing[0]!r}", field="scopes", hint=hint)
    if by.token_id is not None and days:
        end = arena.store.users.token(by.user_id, by.token_id).expires
        if end is not None and _end(days) > end:
            hint = "omit days: the new token then expires with yours"
            raise ForbiddenError(f"your own token expires at {end:%Y-%m-%d %H:%M} UTC", field="days", hint=hint)
    return _create(arena, by.user_id, name, wanted, days, parent_id=by.token_id)


def create_for(arena: Arena, user: UserItem, name: str, scopes: Iterable[str], days: int | None = None) -> NewToken:
    """Create a token for another user, on behalf of the operator; `days` as in `create`.

    Raises BadValueError, CredentialError.
    """
    return _create(arena, user.id, name, list(scopes), days)


def _create(
    arena: Arena, user_id: int, name: str, scopes: list[str], days: int | None, *, parent_id: int | None = None
) -> NewToken:
    if not name or len(name) > MAX_NAME or not name.isprintable():
        hint = f"write 1 to {MAX_NAME} characters, such as the name of the machine it is for"
        raise BadValueError("invalid name of a token", hint=hint, field="name")
    secret = new_token()
    days = TOKEN_DAYS if days is None else days
    expires = None if days == NEVER else _end(days)
    row = arena.store.users.add_token(user_id, name, digest_of(secret), " ".join(scopes), expires, parent_id=parent_id)
    arena.store.audit.note("token.make", f"token:{row.id}", user_id, scopes=" ".join(row.scopes))
    return of_attributes(NewToken, row, token=secret)


def _end(days: int) -> datetime:
    return now() + timedelta(days=days)


def revoke(arena: Arena, token_id: int, by: Identity) -> None:
    """Revoke one of the caller's own tokens and those made with it. Revoking twice is harmless.

    A token may revoke itself, and tokens whose scopes it has. Raises NotFoundError, ForbiddenError.
    """
    row = arena.store.users.token(by.user_id, token_id)
    missing = sorted((set(row.scopes) & scopes_of(by.role)) - by.scopes)
    if missing and token_id != by.token_id:
        hint = "log in, or use a token with that scope"
        raise ForbiddenError(f"you lack the scope {missing[0]!r} of that token", hint=hint)
    arena.store.users.revoke(by.user_id, token_id)
    arena.note("token.revoke", f"token:{token_id}", by)


def revoke_for(arena: Arena, user: UserItem, token_id: int | None, by: Identity | None = None) -> None:
    """Revoke a token of another user, or all of them, on behalf of an admin or the operator. Raises NotFoundError."""
    if token_id is None:
        arena.store.users.revoke_all(user.id)
    else:
        arena.store.users.revoke(user.id, token_id)
    subject = f"user:{user.name}" if token_id is None else f"token:{token_id}"
    arena.note("token.revoke", subject, by, of=user.name)
