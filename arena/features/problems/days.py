"""The problem of the day of each family, and the days on which users solved it. Days are those of UTC."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from arena.clock import now
from arena.features.problems.tables import DailySolution, StoredProblem
from arena.store.base.engine import Sessions, fetch

MAX_STREAK = 1000
"""Maximum number of days that are counted."""


def today() -> date:
    """Return the present day in UTC."""
    return now().date()


class Days:
    """The problems of days, which follow from the stored problems, and the solutions of users."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def problem(self, family: str, day: date) -> int | None:
        """Return the number of the problem of a day, the same for everybody; None without any accepted problem.

        Only problems accepted before the day are chosen, so that a new one does not replace it; if there are none, the
        first one is.
        """
        query = (
            select(col(StoredProblem.id), col(StoredProblem.accepted_at))
            .where(col(StoredProblem.family) == family, col(StoredProblem.state) == "accepted")
            .order_by(col(StoredProblem.id))
        )
        with self._sessions.reading() as session:
            rows = fetch(session, query)
        begin = datetime.combine(day, time(), UTC)
        older = [number for number, accepted_at in rows if accepted_at is not None and accepted_at < begin]
        if not older:
            return rows[0][0] if rows else None

        # The smallest digest: removing another problem does not change the choice.
        def digest(number: int) -> bytes:
            return hashlib.sha256(f"{day} {family} {number}".encode()).digest()

        return min(older, key=digest)

    def note(self, user_id: int, family: str, day: date, number: int) -> None:
        """Store that a user has solved the problem of a day; a second time changes nothing."""
        with suppress(IntegrityError), self._sessions.writing() as session:
            session.add(DailySolution(user_id=user_id, family=family, day=str(day), problem_id=number))

    def streak(self, user_id: int, family: str, day: date) -> int:
        """Return on how many days in a row until this one a user has solved the problem of the day.

        The streak goes on while the problem of this day is not solved yet.
        """
        query = (
            select(col(DailySolution.day))
            .where(
                col(DailySolution.user_id) == user_id,
                col(DailySolution.family) == family,
                col(DailySolution.day) <= str(day),
            )
            .order_by(col(DailySolution.day).desc())
            .limit(MAX_STREAK)
        )
        with self._sessions.reading() as session:
            solved = set(session.scalars(query))
        expected = day if str(day) in solved else day - timedelta(days=1)
        count = 0
        while str(expected) in solved:
            count, expected = count + 1, expected - timedelta(days=1)
        return count
