"""Leases: who may act alone, and until when."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import delete, update
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from arena.store.engine import Sessions
from arena.store.models import Lease, now


class Leases:
    """By name."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def take(self, name: str, owner: str, seconds: float, at: datetime | None = None) -> bool:
        """Take or renew a lease for `seconds`; False while somebody else owns it.

        Deadlines are compared by the clocks of the owners: machines that share a database keep the time.
        """
        at = at or now()
        until = at + timedelta(seconds=seconds)
        is_free = (col(Lease.owner) == owner) | (col(Lease.until) <= at)
        with self._sessions.writing() as session:
            found = session.execute(
                update(Lease).where(col(Lease.name) == name, is_free).values(owner=owner, until=until)
            )
            if found.rowcount:  # type: ignore[attr-defined]
                return True
            if session.get(Lease, name) is not None:
                return False
        try:
            with self._sessions.writing() as session:
                session.add(Lease(name=name, owner=owner, until=until))
        except IntegrityError:
            return False  # somebody was faster
        return True

    def release(self, name: str, owner: str) -> None:
        """Give a lease up, if it is still owned."""
        with self._sessions.writing() as session:
            session.execute(delete(Lease).where(col(Lease.name) == name, col(Lease.owner) == owner))

    def get(self, name: str) -> Lease | None:
        """Who owns or owned a lease, and until when."""
        with self._sessions.reading() as session:
            return session.get(Lease, name)
