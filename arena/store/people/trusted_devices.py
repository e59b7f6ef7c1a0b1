"""From where users have logged in: browsers and addresses, by their digests. Refuses to know what that is good for."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta

from sqlalchemy import delete, select
from sqlmodel import col

from arena.store.base.engine import Sessions
from arena.store.base.models import KnownPlace, now

PLACES_KEPT = timedelta(days=180)
"""A place from which nobody has logged in for so long is as good as unknown."""


class KnownPlaces:
    """By user."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def known(self, user_id: int, digests: Collection[str]) -> set[str]:
        """Which of these the user has logged in from."""
        mine = (col(KnownPlace.user_id) == user_id, col(KnownPlace.digest).in_(digests))
        with self._sessions.reading() as session:
            return set(session.scalars(select(col(KnownPlace.digest)).where(*mine)))

    def is_anybodys(self, digest: str) -> bool:
        """Whether any user has logged in from there."""
        query = select(col(KnownPlace.digest)).where(col(KnownPlace.digest) == digest).limit(1)
        with self._sessions.reading() as session:
            return session.scalar(query) is not None

    def remember(self, user_id: int, digests: Collection[str], at: datetime | None = None) -> None:
        """The user has logged in from these."""
        with self._sessions.writing() as session:
            for digest in sorted(digests):
                session.merge(KnownPlace(user_id=user_id, digest=digest, seen=at or now()))

    def forget(self, user_id: int) -> None:
        """The user has logged in from nowhere."""
        with self._sessions.writing() as session:
            session.execute(delete(KnownPlace).where(col(KnownPlace.user_id) == user_id))
