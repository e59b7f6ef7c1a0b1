"""Trusted devices: hashed browser cookies and IP addresses of successful log-ins."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta

from sqlalchemy import delete, select
from sqlmodel import col

from arena.clock import now
from arena.store.base.engine import Sessions
from arena.store.base.models import TrustedDevice

DEVICES_RETENTION = timedelta(days=180)
"""Time after the last log-in for which a device is kept."""


class TrustedDevices:
    """Trusted devices by user."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def known(self, user_id: int, digests: Collection[str]) -> set[str]:
        """Return which of these digests belong to devices or addresses from which the user has logged in."""
        mine = (col(TrustedDevice.user_id) == user_id, col(TrustedDevice.digest).in_(digests))
        with self._sessions.reading() as session:
            return set(session.scalars(select(col(TrustedDevice.digest)).where(*mine)))

    def is_known_to_any_user(self, digest: str) -> bool:
        """Return whether any user has logged in from this device."""
        query = select(col(TrustedDevice.digest)).where(col(TrustedDevice.digest) == digest).limit(1)
        with self._sessions.reading() as session:
            return session.scalar(query) is not None

    def remember(self, user_id: int, digests: Collection[str], at: datetime | None = None) -> None:
        """Store the device and the address of a successful log-in, as digests."""
        with self._sessions.writing() as session:
            for digest in sorted(digests):
                session.merge(TrustedDevice(user_id=user_id, digest=digest, seen=at or now()))

    def forget(self, user_id: int) -> None:
        """Delete all trusted devices of a user."""
        with self._sessions.writing() as session:
            session.execute(delete(TrustedDevice).where(col(TrustedDevice.user_id) == user_id))
