"""The bots and tournaments that users follow; `arena.store.people.notices` reads their news."""

from __future__ import annotations

from contextlib import suppress
from typing import Literal

from sqlalchemy import delete, func, select
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from arena.documents.account import FollowedItem
from arena.store.base.engine import Sessions, fetch
from arena.store.base.models import BotIdentity, Follow, Tournament

FollowedKind = Literal["bot", "tournament"]
_SUBJECT = {"bot": col(Follow.bot_id), "tournament": col(Follow.tournament_id)}


class Follows:
    """Followed bots and tournaments by user."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def of(self, user_id: int) -> list[FollowedItem]:
        """Return what a user follows: bots by name, then tournaments, the newest first."""
        bots = (
            select(col(BotIdentity.name))
            .join(Follow, col(Follow.bot_id) == col(BotIdentity.id))
            .where(col(Follow.user_id) == user_id)
            .order_by(col(BotIdentity.name))
        )
        tournaments = (
            select(col(Tournament.name), col(Tournament.id))
            .join(Follow, col(Follow.tournament_id) == col(Tournament.id))
            .where(col(Follow.user_id) == user_id)
            .order_by(col(Tournament.id).desc())
        )
        with self._sessions.reading() as session:
            found = [FollowedItem("bot", name, name) for name in session.scalars(bots)]
            return [*found, *(FollowedItem("tournament", name, str(key)) for name, key in fetch(session, tournaments))]

    def count(self, user_id: int) -> int:
        """Return how many bots and tournaments a user follows."""
        with self._sessions.reading() as session:
            return session.scalar(select(func.count()).where(col(Follow.user_id) == user_id)) or 0

    def has(self, user_id: int, kind: FollowedKind, subject_id: int) -> bool:
        """Return whether a user follows a bot or a tournament."""
        query = select(col(Follow.id)).where(col(Follow.user_id) == user_id, _SUBJECT[kind] == subject_id)
        with self._sessions.reading() as session:
            return session.scalar(query) is not None

    def add(self, user_id: int, kind: FollowedKind, subject_id: int) -> None:
        """Let a user follow a bot or a tournament. Following it twice changes nothing."""
        with suppress(IntegrityError), self._sessions.writing() as session:
            bot, tournament = (subject_id, None) if kind == "bot" else (None, subject_id)
            session.add(Follow(user_id=user_id, bot_id=bot, tournament_id=tournament))

    def remove(self, user_id: int, kind: FollowedKind, subject_id: int) -> None:
        """Stop following a bot or a tournament; does nothing if the user does not follow it."""
        with self._sessions.writing() as session:
            session.execute(delete(Follow).where(col(Follow.user_id) == user_id, _SUBJECT[kind] == subject_id))
