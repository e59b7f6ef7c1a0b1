"""Leases with fencing: at most one owner acts.

Machine clocks are never compared. A candidate watches the row by its own monotonic clock and takes the lease when it
was not renewed for long enough. Writes of a former owner are rejected inside their transaction (`fencing`), even if
that process was suspended or lost its connection and still believes that it owns the lease.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import bindparam, delete, func, select, text, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session
from sqlmodel import col

from arena.clock import now
from arena.errors import LeaseLostError
from arena.store.base.engine import Repository, Sessions, table_of
from arena.store.base.tables.operations import Lease

_LEASES = table_of(Lease)
_OWNER = select(_LEASES.c.owner).where(_LEASES.c.name == bindparam("lease")).with_for_update(read=True)
"""Reads the owner with a row lock if supported: the lease cannot be taken between this check and the commit."""
_IDLE_S = (2.0, 10.0)
"""Shortest and longest time after which PostgreSQL ends an idle transaction of an owner; between them, the length of
the lease counts.

The transaction's row locks would block a standby if the owner is suspended or loses its connection. A single statement
may take twice as long.
"""
_BOUND = text(
    # `true`: until the end of this transaction, as the next one on this connection may be anybody's.
    "SELECT set_config('idle_in_transaction_session_timeout', :idle, true), "
    "set_config('statement_timeout', :statement, true)"
)


@dataclass(frozen=True, slots=True)
class OwnedLease:
    """A lease as stored; `left_s` are the seconds until it expires, by the database's clock."""

    owner: str
    until: datetime
    left_s: float

    @property
    def is_alive(self) -> bool:
        """True until the lease expires."""
        return self.left_s > 0


class Leases(Repository):
    """Leases by name, each owned by at most one process at a time."""

    def __init__(self, sessions: Sessions) -> None:
        super().__init__(sessions)
        self._idle_s = _IDLE_S[1]

    def take(self, name: str, owner: str, seconds: float, seen: OwnedLease | None = None) -> bool:
        """Take a lease for `seconds` if it is free, this owner's, or unchanged since `seen`; else return False."""
        self._adopt(seconds)
        with self._sessions.writing() as session:
            self._bound(session)
            until = _time(session) + timedelta(seconds=seconds)
            is_free = col(Lease.owner) == owner
            if seen is not None:
                is_free |= (col(Lease.owner) == seen.owner) & (col(Lease.until) == seen.until)
            taken = update(Lease).where(col(Lease.name) == name, is_free).values(owner=owner, until=until)
            if session.execute(taken).rowcount:  # type: ignore[attr-defined]
                return True
            if session.get(Lease, name) is not None:
                return False
        try:
            with self._sessions.writing() as session:
                # In a transaction of its own: after a failed insert PostgreSQL refuses every further statement of a
                # transaction.
                session.add(Lease(name=name, owner=owner, until=until))
        except IntegrityError:
            return False  # another process was faster
        return True

    def renew(self, name: str, owner: str, seconds: float) -> bool:
        """Renew a lease for `seconds`; return False if this owner has lost it: another owner may have acted since."""
        self._adopt(seconds)
        with self._sessions.writing() as session:
            self._bound(session)
            until = _time(session) + timedelta(seconds=seconds)
            # Even after its end: as long as no other process has taken the lease, none has acted in between.
            mine = (col(Lease.name) == name, col(Lease.owner) == owner)
            return bool(session.execute(update(Lease).where(*mine).values(until=until)).rowcount)  # type: ignore[attr-defined]

    def release(self, name: str, owner: str) -> None:
        """Release a lease if this owner still has it."""
        with self._sessions.writing() as session:
            session.execute(delete(Lease).where(col(Lease.name) == name, col(Lease.owner) == owner))

    def get(self, name: str) -> OwnedLease | None:
        """Return the present or last owner of a lease, and when the lease expires."""
        with self._sessions.reading() as session:
            found = session.get(Lease, name)
            if found is None:
                return None
            return OwnedLease(found.owner, found.until, (found.until - _time(session)).total_seconds())

    @contextmanager
    def fencing(self, name: str, owner: str) -> Iterator[None]:
        """Allow this thread's writes inside the block only while `owner` has the lease.

        A write raises LeaseLostError, and its transaction is rolled back, if another owner has the lease.
        """

        def require(session: Session) -> None:
            self._bound(session)
            holder = session.scalar(_OWNER, {"lease": name})
            if holder != owner:
                raise LeaseLostError(f"the lease {name!r} is owned by {holder or 'no process'}, not by {owner}")

        with self._sessions.fenced(require):
            yield

    def _adopt(self, seconds: float) -> None:
        """Limit the idle time of transactions from now on to the length of this lease, within the bounds `_IDLE_S`."""
        self._idle_s = max(_IDLE_S[0], min(seconds, _IDLE_S[1]))

    def _bound(self, session: Session) -> None:
        """Let PostgreSQL end this transaction if this process is suspended: its row locks would block a standby."""
        if _is_postgresql(session):
            idle_ms = int(self._idle_s * 1000)
            session.execute(_BOUND, {"idle": str(idle_ms), "statement": str(2 * idle_ms)})


def _time(session: Session) -> datetime:
    """Return the time of the database's clock; for SQLite, which has no clock, that of this machine."""
    if not _is_postgresql(session):
        return now()
    # Not now(): in PostgreSQL that is the begin of the transaction, which may have waited for a lock since.
    found: datetime = session.scalar(select(func.clock_timestamp()))  # type: ignore[assignment]
    return found


def _is_postgresql(session: Session) -> bool:
    return session.get_bind().dialect.name == "postgresql"
