"""What is done once a day: for which day it was done last; and the removal of what is over."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import delete, update
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from arena.store.base.engine import Sessions
from arena.store.base.models import Answer, Audit, Counter, Guess, KnownPlace, Login, QueuedAnalysis, now
from arena.store.operations.answers import ANSWERS_KEPT
from arena.store.people.login_attempts import GUESSES_KEPT
from arena.store.people.trusted_devices import PLACES_KEPT

REFUSED_KEPT = timedelta(days=90)
"""How long refused log-ins stay in the audit log: anybody can make them."""


class DailyTasks:
    """By name of the task."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def last_done(self, task: str) -> int:
        """The number of the day (`date.toordinal`) for which a task was last done; 0 if never."""
        with self._sessions.reading() as session:
            row = session.get(Counter, _name(task))
            return row.value if row else 0

    def note_done(self, task: str, day: int) -> bool:
        """Note that a task is done for a day; False when somebody had noted it before."""
        mine = (col(Counter.name) == _name(task), col(Counter.value) < day)
        with self._sessions.writing() as session:
            if session.execute(update(Counter).where(*mine).values(value=day)).rowcount:  # type: ignore[attr-defined]
                return True
            if session.get(Counter, _name(task)) is not None:
                return False
        try:
            with self._sessions.writing() as session:
                session.add(Counter(name=_name(task), value=day))
        except IntegrityError:
            return False  # somebody was faster
        return True

    def forget(self, at: datetime | None = None) -> int:
        """Remove what is worth nothing any more: old sessions, guesses, places, answers. How many rows."""
        at = at or now()
        old = (
            delete(Login).where(col(Login.expires) <= at),
            delete(Guess).where(col(Guess.updated_at) < at - GUESSES_KEPT),
            delete(KnownPlace).where(col(KnownPlace.seen) < at - PLACES_KEPT),
            delete(Answer).where(col(Answer.created_at) < at - ANSWERS_KEPT),
            delete(QueuedAnalysis).where(
                col(QueuedAnalysis.game_id).is_(None), col(QueuedAnalysis.requested_at) < at - ANSWERS_KEPT
            ),
            delete(Audit).where(col(Audit.action) == "login.refused", col(Audit.logged_at) < at - REFUSED_KEPT),
        )
        with self._sessions.writing() as session:
            return sum(session.execute(query).rowcount for query in old)  # type: ignore[attr-defined]


def _name(task: str) -> str:
    """A task as the name of a counter."""
    return f"chore {task}"[:32]
