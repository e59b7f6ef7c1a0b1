"""The problem of the day of each family, and the days on which users solved it. Days are those of UTC."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from arena.clock import now
from arena.features.problems.tables import DailySolution, StoredProblem
from arena.store.base.engine import Repository, fetch

MAX_DAYS = 2000
"""Maximum number of solutions that are counted."""


def today() -> date:
    """Return the present day in UTC."""
    return now().date()


class Days(Repository):
    """The problems of days, which follow from the stored problems, and the solutions of users."""

    def problems(self, day: date, family: str | None = None) -> dict[str, int]:
        """Return the numbers of the problems of a day by family, the same for everybody; of one family or of all.

        Only problems accepted before the day are chosen, so that a new one does not replace it; if there are none, the
        first one is. Families without an accepted problem are left out.
        """
        query = (
            select(col(StoredProblem.family), col(StoredProblem.id), col(StoredProblem.accepted_at))
            .where(col(StoredProblem.state) == "accepted")
            .order_by(col(StoredProblem.family), col(StoredProblem.id))
        )
        with self._sessions.reading() as session:
            rows = fetch(session, query if family is None else query.where(col(StoredProblem.family) == family))
        begin = datetime.combine(day, time(), UTC)
        first: dict[str, int] = {}
        older: dict[str, list[int]] = {}
        for name, number, accepted_at in rows:
            first.setdefault(name, number)
            if accepted_at is not None and accepted_at < begin:
                older.setdefault(name, []).append(number)
        # The smallest digest: removing another problem does not change the choice.
        return {
            name: min(older[name], key=lambda number: _digest(day, number)) if name in older else number
            for name, number in first.items()
        }

    def note(self, user_id: int, family: str, day: date, number: int) -> None:
        """Store that a user has solved the problem of a day; a second time changes nothing."""
        with suppress(IntegrityError), self._sessions.writing() as session:
            session.add(DailySolution(user_id=user_id, family=family, day=str(day), problem_id=number))

    def streaks(self, user_id: int, day: date) -> dict[str, int]:
        """Return by family on how many days in a row until this one a user has solved the problem of the day.

        A streak continues while the problem of this day is not solved yet. Families without a streak are left out.
        """
        query = (
            select(col(DailySolution.family), col(DailySolution.day))
            .where(col(DailySolution.user_id) == user_id, col(DailySolution.day) <= str(day))
            .order_by(col(DailySolution.day).desc())
            .limit(MAX_DAYS)
        )
        solved: dict[str, set[str]] = {}
        with self._sessions.reading() as session:
            for family, text in fetch(session, query):
                solved.setdefault(family, set()).add(text)
        lengths = {family: _streak(days, day) for family, days in solved.items()}
        return {family: length for family, length in lengths.items() if length}


def _streak(solved: Collection[str], day: date) -> int:
    """Return the number of days in a row that end on this day or the one before."""
    expected = day if str(day) in solved else day - timedelta(days=1)
    count = 0
    while str(expected) in solved:
        count, expected = count + 1, expected - timedelta(days=1)
    return count


def _digest(day: date, number: int) -> bytes:
    return hashlib.sha256(f"{day} {number}".encode()).digest()
