"""Users: read and manage them. Passwords are stored only as hashes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from arena.credentials import SCOPES, hash_password, new_password
from arena.documents.account import UserItem
from arena.documents.bot import BotItem
from arena.documents.identity import Identity
from arena.documents.page import PageQuery, PageResponse
from arena.documents.rating import PoolRating
from arena.documents.tournament import TournamentItem, TournamentQuery
from arena.errors import ForbiddenError
from arena.services import token
from arena.services.arena import Arena


def page(arena: Arena, query: PageQuery) -> PageResponse[UserItem]:
    """Return users, ordered by name."""
    return arena.store.users.page(limit=query.limit, after=query.after)


def find(arena: Arena, name: str) -> UserItem:
    """Return the user of that name. Raises NotFoundError."""
    return arena.store.users.find(name)


@dataclass(frozen=True, slots=True)
class UserProfile:
    """The public profile of a user: bots, best rating of each pool, organised tournaments, and whether they have played
    against bots.
    """

    user: UserItem
    bots: Sequence[BotItem]
    best: Sequence[PoolRating]
    tournaments: Sequence[TournamentItem]
    has_played: bool


def profile(arena: Arena, name: str) -> UserProfile:
    """Return the public profile of a user. Raises NotFoundError."""
    store, user = arena.store, find(arena, name)
    return UserProfile(
        user,
        store.bots.page(owner_id=user.id, with_retired=True, limit=200).items,
        _best_of_each_pool(store.ratings.of_owner(user.id)),
        store.tournaments.page(TournamentQuery(limit=20), created_by=user.id).items,
        store.people.has_played(user.name),
    )


def _best_of_each_pool(ratings: Sequence[PoolRating]) -> list[PoolRating]:
    """Return the highest rating of each pool, by pool name. A provisional one counts only if there is no other."""
    found: dict[str, PoolRating] = {}
    for line in sorted(ratings, key=lambda line: (line.pool, not line.is_provisional, line.conservative)):
        found[line.pool] = line
    return list(found.values())


def add(arena: Arena, name: str, role: str, password: str | None, by: Identity | None = None) -> UserItem:
    """Create a user; without a password they can use tokens only. Raises BadValueError, CredentialError, TakenError."""
    user = arena.store.users.add(name, role, hash_password(password, name) if password is not None else None)
    arena.note("user.make", f"user:{user.name}", by, role=user.role)
    return user


def change(
    arena: Arena,
    name: str,
    *,
    role: str | None = None,
    password: str | None = None,
    is_active: bool | None = None,
    revoke_tokens: bool = False,
    by: Identity | None = None,
) -> UserItem:
    """Change role, password or activation of a user; None leaves a value unchanged.

    All browser sessions of the user end; `revoke_tokens` also revokes all API tokens. Raises NotFoundError,
    BadValueError, CredentialError, and ForbiddenError if admins would remove their own rights.
    """
    if by is not None and name == by.name and (is_active is False or role not in (None, "admin")):
        raise ForbiddenError("you cannot remove your own rights", hint="ask another admin")
    hashed = hash_password(password, name) if password is not None else None
    user = arena.store.users.change(name, role=role, password_hash=hashed, is_active=is_active)
    if hashed is not None:
        arena.store.trusted_devices.forget(user.id)
    if revoke_tokens:
        arena.store.users.revoke_all(user.id)
    given = {"role": role, "password": password, "is_active": is_active, "revoke_tokens": revoke_tokens or None}
    changed = sorted(word for word, value in given.items() if value is not None)
    arena.note("user.change", f"user:{user.name}", by, changed=changed, role=user.role, is_active=user.is_active)
    return user


def ensure_admin(arena: Arena, name: str) -> tuple[str, str] | None:
    """Create the first administrator and return its password and token, which are not stored; None if one exists.

    Raises TakenError.
    """
    if arena.store.users.count("admin"):
        return None
    password = new_password()
    user = arena.store.users.add(name, "admin", hash_password(password))
    made = token.create_for(arena, user, "from arena init", SCOPES)
    arena.store.audit.note("arena.init", f"user:{name}", user.id)
    return password, made.token
