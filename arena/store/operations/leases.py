"""Leases: who may act alone.

A lease is taken from its owner by comparing what stands in its row, never two machines' times of day: whoever wants it
watches the row by a clock that only runs forward, and takes it when nobody has renewed it for long enough. What an
owner writes is refused inside the transaction once somebody else has the lease (`fencing`): an owner that was stopped,
cut off or suspended may believe what it likes.
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

from arena.store.base.engine import Sessions, table_of
from arena.store.base.errors import LeaseLostError
from arena.store.base.models import Lease, now

_LEASES = table_of(Lease)
_OWNER = select(_LEASES.c.owner).where(_LEASES.c.name == bindparam("lease")).with_for_update(read=True)
"""Locked, where there are such locks: nobody takes the lease between this look and the commit."""
_IDLE_MS = 10_000
"""How long PostgreSQL keeps an owner's row locks while its process is stopped in the midst of a transaction."""


@dataclass(frozen=True, slots=True)
class OwnedLease:
    """A lease as it stands in the database; `left_s` until it has run out, by the clock of the database."""

    owner: str
    until: datetime
    left_s: float

    @property
    def is_alive(self) -> bool:
        """Whether its owner has renewed it in time."""
        return self.left_s > 0


class Leases:
    """By name."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def take(self, name: str, owner: str, seconds: float, seen: OwnedLease | None = None) -> bool:
        """Take a lease that nobody owns, or that stands as it was `seen`, for `seconds`; False when it does not."""
        with self._sessions.writing() as session:
            _bound(session)
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
                session.add(Lease(name=name, owner=owner, until=until))
        except IntegrityError:
            return False  # somebody was faster
        return True

    def renew(self, name: str, owner: str, seconds: float) -> bool:
        """Renew a lease for `seconds`; False when it is not this owner's any more: somebody may have acted since."""
        with self._sessions.writing() as session:
            _bound(session)
            until = _time(session) + timedelta(seconds=seconds)
            mine = (col(Lease.name) == name, col(Lease.owner) == owner)
            return bool(session.execute(update(Lease).where(*mine).values(until=until)).rowcount)  # type: ignore[attr-defined]

    def release(self, name: str, owner: str) -> None:
        """Give a lease up, if it is still owned."""
        with self._sessions.writing() as session:
            session.execute(delete(Lease).where(col(Lease.name) == name, col(Lease.owner) == owner))

    def get(self, name: str) -> OwnedLease | None:
        """Who owns or owned a lease, and until when."""
        with self._sessions.reading() as session:
            found = session.get(Lease, name)
            if found is None:
                return None
            return OwnedLease(found.owner, found.until, (found.until - _time(session)).total_seconds())

    @contextmanager
    def fencing(self, name: str, owner: str) -> Iterator[None]:
        """For the length of a `with`, what this thread writes is written only while `owner` has the lease.

        Raises LeaseLostError, from within, when somebody else has it: nothing of that transaction was written.
        """

        def require(session: Session) -> None:
            _bound(session)
            found = session.scalar(_OWNER, {"lease": name})
            if found != owner:
                raise LeaseLostError(f"the lease {name} is {found or 'nobody'}'s, not {owner}'s")

        with self._sessions.fenced(require):
            yield


def _bound(session: Session) -> None:
    """End this transaction when its process is stopped in it: its lock on the lease would keep a standby waiting."""
    if _is_postgresql(session):
        session.execute(text(f"SET LOCAL idle_in_transaction_session_timeout = {_IDLE_MS}"))


def _time(session: Session) -> datetime:
    """The time by the clock of the database: SQLite has none but that of its machine, which is ours."""
    if not _is_postgresql(session):
        return now()
    found: datetime = session.scalar(select(func.clock_timestamp()))  # type: ignore[assignment]
    return found


def _is_postgresql(session: Session) -> bool:
    return session.get_bind().dialect.name == "postgresql"
