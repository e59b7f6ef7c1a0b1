"""Daily tasks: the last day on which each was done, and the deletion of expired data."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import delete, update
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from arena.clock import now
from arena.store.base.engine import Repository
from arena.store.base.tables.analyses import RequestedAnalysis
from arena.store.base.tables.archive import StoredImport
from arena.store.base.tables.operations import Audit, Counter, IdempotentResponse
from arena.store.base.tables.people import AccountLink, Login, LoginAttempt, TrustedDevice
from arena.store.operations.idempotent_responses import RESPONSES_RETENTION
from arena.store.people.login_attempts import ATTEMPTS_RETENTION, DEVICES_RETENTION

REFUSED_LOGINS_RETENTION = timedelta(days=90)
"""Retention of refused log-ins in the audit log; without it anyone could fill the log."""

IMPORTS_RETENTION = timedelta(days=30)
"""Retention of an import and its list of rejected games; its games stay."""


class DailyTasks(Repository):
    """The table of daily tasks: when each was last done, by name; and the daily deletion of expired rows."""

    def last_done(self, task: str) -> int:
        """Return the day (`date.toordinal`) for which a task was last done; 0 if never."""
        with self._sessions.reading() as session:
            row = session.get(Counter, _name(task))
            return row.value if row else 0

    def note_done(self, task: str, day: int) -> bool:
        """Mark a task as done for a day; return False if another process has already marked it."""
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
            return False  # another process was faster
        return True

    def forget(self, at: datetime | None = None) -> int:
        """Delete expired rows and return how many: sessions, account links, log-in attempts, trusted devices,
        responses, requests to analyse positions, imports, and refused log-ins in the audit log.
        """
        at = at or now()
        old = (
            delete(Login).where(col(Login.expires) <= at),
            delete(AccountLink).where(col(AccountLink.expires) <= at),
            delete(LoginAttempt).where(col(LoginAttempt.updated_at) < at - ATTEMPTS_RETENTION),
            delete(TrustedDevice).where(col(TrustedDevice.seen) < at - DEVICES_RETENTION),
            delete(IdempotentResponse).where(col(IdempotentResponse.created_at) < at - RESPONSES_RETENTION),
            delete(RequestedAnalysis).where(
                col(RequestedAnalysis.game_id).is_(None), col(RequestedAnalysis.requested_at) < at - RESPONSES_RETENTION
            ),
            delete(StoredImport).where(col(StoredImport.created_at) < at - IMPORTS_RETENTION),
            delete(Audit).where(
                col(Audit.action) == "login.refused", col(Audit.logged_at) < at - REFUSED_LOGINS_RETENTION
            ),
        )
        with self._sessions.writing() as session:
            return sum(session.execute(query).rowcount for query in old)  # type: ignore[attr-defined]


def _name(task: str) -> str:
    return f"task {task}"[:32]
