"""Follows of bots, tournaments and people, whose news become notices of the account."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from arena.documents.account import FollowedItem, Identity
from arena.errors import BadValueError, QuotaError
from arena.services import bot, tournament, user
from arena.services.arena import Arena
from arena.store.people.notices import FollowedKind

MAX_FOLLOWED = 200
"""Maximum of bots, tournaments and people that a user follows."""


def read(arena: Arena, by: Identity) -> Sequence[FollowedItem]:
    return arena.store.follows.of(by.user_id)


def has(arena: Arena, kind: FollowedKind, subject_id: int, by: Identity | None) -> bool:
    """Return whether the caller follows the bot, tournament or user with this id."""
    return by is not None and arena.store.follows.has(by.user_id, kind, subject_id)


def change(arena: Arena, kind: str, key: str, by: Identity, *, is_followed: bool) -> None:
    """Begin or end following a bot or a person (by name) or a tournament (by number).

    Raises NotFoundError, BadValueError, and QuotaError for more than `MAX_FOLLOWED`.
    """
    known = next((followed for followed in get_args(FollowedKind) if followed == kind), None)
    if known is None:
        raise BadValueError(f"invalid kind {kind[:20]!r}", hint="follow a bot, a tournament or a person", field="kind")
    subject_id = _subject_id(arena, known, key)
    if not is_followed:
        arena.store.follows.remove(by.user_id, known, subject_id)
    elif arena.store.follows.count(by.user_id) >= MAX_FOLLOWED:
        raise QuotaError(
            f"you follow {MAX_FOLLOWED} bots, tournaments and people",
            hint="stop following some of them on your account page",
        )
    else:
        arena.store.follows.add(by.user_id, known, subject_id)


def _subject_id(arena: Arena, kind: FollowedKind, key: str) -> int:
    if kind == "bot":
        return bot.find(arena, key).id
    if kind == "user":
        return user.find(arena, key).id
    return tournament.get(arena, int(key) if key.isascii() and key.isdecimal() and len(key) <= 9 else 0).id
