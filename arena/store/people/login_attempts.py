"""Log-in attempts: counters shared by all web processes, and the devices where they count separately.

Delays grow with each wrong attempt, but never become permanent: attempts stop counting after a while. Trusted devices
are browser cookies and IP addresses of successful log-ins. Keys are digests.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, select, update
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from arena.clock import now
from arena.store.base.engine import Repository
from arena.store.base.tables.people import LoginAttempt, TrustedDevice

ATTEMPTS_RETENTION = timedelta(days=2)
"""Time after the last attempt for which a key is kept."""
DEVICES_RETENTION = timedelta(days=180)
"""Time after the last log-in for which a device is kept."""


@dataclass(frozen=True, slots=True)
class BackoffPolicy:
    """A backoff policy: the number of `free` attempts, the seconds until one attempt is forgiven, the longest wait.

    After the free attempts, the wait starts at one second and doubles with each further attempt.
    """

    free: int
    forgiven_s: float
    longest_s: float

    def left(self, count: float, elapsed_s: float) -> float:
        """Return how many of `count` attempts are not forgiven yet, `elapsed_s` seconds after the last attempt."""
        return max(0.0, count - elapsed_s / self.forgiven_s)

    def wait_s(self, count: float, elapsed_s: float) -> float:
        """Return the seconds until the next attempt is allowed, `elapsed_s` seconds after the last attempt; 0 = now."""
        beyond = math.ceil(self.left(count, elapsed_s)) - self.free
        if beyond < 0:
            return 0.0
        return max(0.0, min(self.longest_s, 2.0 ** min(beyond, 20)) - elapsed_s)


class LoginAttempts(Repository):
    def take(self, keys: Mapping[str, BackoffPolicy], at: datetime | None = None) -> float:
        """Count an attempt for each of these keys and return 0, or count nothing and return the seconds to wait.

        The attempt counts as wrong until `give_back`.
        """
        at = at or now()
        try:
            return self._take(keys, at)
        except IntegrityError:  # another process has just inserted one of the rows
            return self._take(keys, at)

    def _take(self, keys: Mapping[str, BackoffPolicy], at: datetime) -> float:
        rows = (
            select(LoginAttempt)
            .where(col(LoginAttempt.key).in_(keys))
            # Locked in one order, so that two log-ins with two common keys never wait for each other.
            .order_by(col(LoginAttempt.key))
            .with_for_update()
        )
        with self._sessions.writing() as session:
            attempts = {row.key: row for row in session.scalars(rows)}
            elapsed = {key: max(0.0, (at - row.updated_at).total_seconds()) for key, row in attempts.items()}
            wait = max((keys[key].wait_s(row.count, elapsed[key]) for key, row in attempts.items()), default=0.0)
            if wait > 0:
                return wait
            for key in sorted(keys):
                row = attempts.get(key) or LoginAttempt(key=key, updated_at=at)
                row.count = (keys[key].left(row.count, elapsed[key]) if key in attempts else 0.0) + 1
                row.updated_at = at
                session.add(row)
        return 0.0

    def give_back(self, keys: Collection[str]) -> None:
        """Subtract one attempt from the counters of these keys, because the last attempt was successful."""
        mine = col(LoginAttempt.key).in_(keys)
        with self._sessions.writing() as session:
            session.execute(
                update(LoginAttempt).where(mine, col(LoginAttempt.count) >= 1).values(count=col(LoginAttempt.count) - 1)
            )

    def forget(self, keys: Collection[str]) -> None:
        """Delete the counters of these keys."""
        with self._sessions.writing() as session:
            session.execute(delete(LoginAttempt).where(col(LoginAttempt.key).in_(keys)))


class TrustedDevices(Repository):
    """Browsers and addresses from which users have logged in, stored as digests."""

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
        with self._sessions.writing() as session:
            session.execute(delete(TrustedDevice).where(col(TrustedDevice.user_id) == user_id))
