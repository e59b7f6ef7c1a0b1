"""Notices for users: checks of their versions, faults and suspensions of their bots, ended tournaments, and news of the
bots, tournaments and people that they follow.

Notices are derived from other tables: stored are only the time at which a user read them, and what the user follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Select, delete, func, or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Mapped
from sqlmodel import col

from arena.clock import now
from arena.documents.account import FollowedItem, Notice
from arena.store.base.engine import Repository, fetch
from arena.store.base.tables.bots import BotIdentity, Version
from arena.store.base.tables.games import Game
from arena.store.base.tables.operations import Audit
from arena.store.base.tables.people import Follow, User
from arena.store.base.tables.tournaments import Entry, Tournament
from referee.rules.core import Kind, Termination

FollowedKind = Literal["bot", "tournament", "user"]

LIMIT = 30
"""Maximum number of notices of each kind; the pages of bots and tournaments show older ones."""
_SUBJECT = {"bot": col(Follow.bot_id), "tournament": col(Follow.tournament_id), "user": col(Follow.person_id)}
_IS_OF_FOLLOWED = (col(Follow.bot_id) == col(BotIdentity.id)) | (col(Follow.person_id) == col(BotIdentity.owner_id))
"""Joins followed bots, and the bots of followed people."""


class Notices(Repository):
    """News of the bots of a user and of what the user follows, read from where it is recorded."""

    def of(self, user_id: int, since: datetime | None = None) -> list[Notice]:
        """Return a user's notices, latest first, at most LIMIT of each kind; with `since`, only those after it."""
        parts = (self._checks, self._faults, self._suspensions, self._ended, self._followed)
        found = dict.fromkeys(one for part in parts for one in part(user_id, since))  # users may follow their own bots
        return sorted(found, key=lambda one: one.at, reverse=True)

    def read_until(self, user_id: int) -> datetime | None:
        """Return the time at which a user last marked the notices as read."""
        query = select(func.max(col(Audit.logged_at))).where(col(Audit.subject) == _subject(user_id))
        with self._sessions.reading() as session:
            return session.scalar(query)

    def mark_read(self, user_id: int, at: datetime | None = None) -> None:
        with self._sessions.writing() as session:
            session.add(Audit(logged_at=at or now(), action="account.read", subject=_subject(user_id), user_id=user_id))

    def _checks(self, user_id: int, since: datetime | None) -> list[Notice]:
        query = (
            select(col(Version.checked), col(Version.name), col(Version.id), col(Version.state), col(Version.problem))
            .join(BotIdentity, col(BotIdentity.id) == col(Version.bot_id))
            .where(col(BotIdentity.owner_id) == user_id, col(Version.checked).is_not(None))
            .order_by(col(Version.checked).desc())
            .limit(LIMIT)
        )
        rows = self._rows(query, col(Version.checked), since)
        return [Notice("check", at, name, str(key), state, problem) for at, name, key, state, problem in rows]

    def _faults(self, user_id: int, since: datetime | None) -> list[Notice]:
        """Return forfeits of the user's versions, without resignations and suspensions, which are no faults."""
        mine = self._versions(user_id)
        if not mine:
            return []
        lost = or_(
            (col(Game.first_id).in_(mine)) & (col(Game.winner) == "second"),
            (col(Game.second_id).in_(mine)) & (col(Game.winner) == "first"),
        )
        query = (
            select(
                col(Game.finished_at),
                col(Game.first),
                col(Game.second),
                col(Game.winner),
                col(Game.id),
                col(Game.termination),
                col(Game.detail),
            )
            .where(
                col(Game.termination_class) == Kind.FORFEIT.value,
                col(Game.commit_number).is_not(None),
                col(Game.termination).not_in((Termination.RESIGNED.value, Termination.SUSPENDED.value)),
                lost,
            )
            .order_by(col(Game.commit_number).desc())
            .limit(LIMIT)
        )
        rows = self._rows(query, col(Game.finished_at), since)
        return [
            Notice("fault", at, second if winner == "first" else first, key, fault, detail)
            for at, first, second, winner, key, fault, detail in rows
        ]

    def _suspensions(self, user_id: int, since: datetime | None) -> list[Notice]:
        query = (
            select(col(Entry.withdrawn), col(Version.name), col(Entry.tournament_id), col(Entry.suspended))
            .join(Version, col(Version.id) == col(Entry.version_id))
            .join(BotIdentity, col(BotIdentity.id) == col(Version.bot_id))
            .where(col(BotIdentity.owner_id) == user_id, col(Entry.suspended) != "", col(Entry.withdrawn).is_not(None))
            .order_by(col(Entry.withdrawn).desc())
            .limit(LIMIT)
        )
        rows = self._rows(query, col(Entry.withdrawn), since)
        return [Notice("suspension", at, name, str(key), "suspended", reason) for at, name, key, reason in rows]

    def _ended(self, user_id: int, since: datetime | None) -> list[Notice]:
        entered = (
            select(col(Entry.tournament_id))
            .join(Version, col(Version.id) == col(Entry.version_id))
            .join(BotIdentity, col(BotIdentity.id) == col(Version.bot_id))
            .where(col(BotIdentity.owner_id) == user_id)
        )
        query = (
            select(col(Tournament.finished_at), col(Tournament.name), col(Tournament.id), col(Tournament.state))
            .where(col(Tournament.finished_at).is_not(None), col(Tournament.id).in_(entered))
            .order_by(col(Tournament.finished_at).desc())
            .limit(LIMIT)
        )
        return [Notice("tournament", *row) for row in self._keyed(query, col(Tournament.finished_at), since)]

    def _followed(self, user_id: int, since: datetime | None) -> list[Notice]:
        """Return news since the user began to follow: new versions of followed bots and of bots of followed people, and
        ended tournaments that the user follows or in which such a bot plays.

        Versions of the user's own bots are in `_checks`.
        """
        # Distinct before the limit: a row comes once for each followed bot or person that leads to it.
        versions = (
            select(col(Version.checked), col(Version.name), col(Version.id), col(Version.state))
            .join(BotIdentity, col(BotIdentity.id) == col(Version.bot_id))
            .join(Follow, _IS_OF_FOLLOWED)
            .where(
                col(Follow.user_id) == user_id,
                col(BotIdentity.owner_id) != user_id,
                col(Version.state) == "active",
                col(Version.checked) > col(Follow.followed_at),
            )
            .distinct()
            .order_by(col(Version.checked).desc())
            .limit(LIMIT)
        )
        entered = (
            select(col(Entry.tournament_id))
            .join(Version, col(Version.id) == col(Entry.version_id))
            .join(BotIdentity, col(BotIdentity.id) == col(Version.bot_id))
            .where(_IS_OF_FOLLOWED)
        )
        ended = (
            select(col(Tournament.finished_at), col(Tournament.name), col(Tournament.id), col(Tournament.state))
            .join(
                Follow,
                (col(Follow.tournament_id) == col(Tournament.id)) | col(Tournament.id).in_(entered.correlate(Follow)),
            )
            .where(col(Follow.user_id) == user_id, col(Tournament.finished_at) > col(Follow.followed_at))
            .distinct()
            .order_by(col(Tournament.finished_at).desc())
            .limit(LIMIT)
        )
        return [
            *(Notice("version", *row) for row in self._keyed(versions, col(Version.checked), since)),
            *(Notice("tournament", *row) for row in self._keyed(ended, col(Tournament.finished_at), since)),
        ]

    def _keyed(
        self, query: Select[*tuple[Any, ...]], at: Mapped[datetime | None], since: datetime | None
    ) -> list[tuple[datetime, str, str, str]]:
        return [(when, name, str(key), state) for when, name, key, state in self._rows(query, at, since)]

    def _rows(
        self, query: Select[*tuple[Any, ...]], at: Mapped[datetime | None], since: datetime | None
    ) -> Sequence[Any]:
        """Return the rows of a query whose column `at` is after `since` (None: all rows)."""
        with self._sessions.reading() as session:
            return fetch(session, query if since is None else query.where(at > since))

    def _versions(self, user_id: int) -> Sequence[int]:
        query = (
            select(col(Version.id))
            .join(BotIdentity, col(BotIdentity.id) == col(Version.bot_id))
            .where(col(BotIdentity.owner_id) == user_id)
        )
        with self._sessions.reading() as session:
            return [row[0] for row in fetch(session, query)]


def _subject(user_id: int) -> str:
    return f"notices:{user_id}"


class Follows(Repository):
    """Followed bots, tournaments and people by user."""

    def of(self, user_id: int) -> list[FollowedItem]:
        """Return what a user follows: bots and people by name, then tournaments, the newest first."""
        bots = (
            select(col(BotIdentity.name))
            .join(Follow, col(Follow.bot_id) == col(BotIdentity.id))
            .where(col(Follow.user_id) == user_id)
            .order_by(col(BotIdentity.name))
        )
        people = (
            select(col(User.name))
            .join(Follow, col(Follow.person_id) == col(User.id))
            .where(col(Follow.user_id) == user_id)
            .order_by(col(User.name))
        )
        tournaments = (
            select(col(Tournament.name), col(Tournament.id))
            .join(Follow, col(Follow.tournament_id) == col(Tournament.id))
            .where(col(Follow.user_id) == user_id)
            .order_by(col(Tournament.id).desc())
        )
        with self._sessions.reading() as session:
            followed = [FollowedItem("bot", name, name) for name in session.scalars(bots)]
            return [
                *followed,
                *(FollowedItem("user", name, name) for name in session.scalars(people)),
                *(FollowedItem("tournament", name, str(key)) for name, key in fetch(session, tournaments)),
            ]

    def count(self, user_id: int) -> int:
        """Return how many bots, tournaments and people a user follows."""
        with self._sessions.reading() as session:
            return session.scalar(select(func.count()).where(col(Follow.user_id) == user_id)) or 0

    def has(self, user_id: int, kind: FollowedKind, subject_id: int) -> bool:
        """Return whether a user follows a bot, a tournament or a person."""
        query = select(col(Follow.id)).where(col(Follow.user_id) == user_id, _SUBJECT[kind] == subject_id)
        with self._sessions.reading() as session:
            return session.scalar(query) is not None

    def add(self, user_id: int, kind: FollowedKind, subject_id: int) -> None:
        """Let a user follow a bot, a tournament or a person. Following it twice changes nothing."""
        with suppress(IntegrityError), self._sessions.writing() as session:
            followed = Follow(user_id=user_id)
            if kind == "bot":
                followed.bot_id = subject_id
            elif kind == "tournament":
                followed.tournament_id = subject_id
            else:
                followed.person_id = subject_id
            session.add(followed)

    def remove(self, user_id: int, kind: FollowedKind, subject_id: int) -> None:
        """Stop following a bot, a tournament or a person; does nothing if the user does not follow it."""
        with self._sessions.writing() as session:
            session.execute(delete(Follow).where(col(Follow.user_id) == user_id, _SUBJECT[kind] == subject_id))
