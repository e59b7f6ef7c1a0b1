"""Log-in back-off and rate limits: counters shared by all web processes.

Delays grow with each wrong attempt, but never become permanent: attempts stop counting after a while. Keys are digests.
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
from arena.store.base.engine import Sessions
from arena.store.base.models import LoginAttempt

ATTEMPTS_RETENTION = timedelta(days=2)
"""Time after the last attempt for which a key is kept."""


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


class LoginAttempts:
    """Counters of attempts by key."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

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
            .order_by(col(LoginAttempt.key))
            .with_for_update()
        )
        with self._sessions.writing() as session:
            found = {row.key: row for row in session.scalars(rows)}
            elapsed = {key: max(0.0, (at - row.updated_at).total_seconds()) for key, row in found.items()}
            wait = max((keys[key].wait_s(row.count, elapsed[key]) for key, row in found.items()), default=0.0)
            if wait > 0:
                return wait
            for key in sorted(keys):
                row = found.get(key) or LoginAttempt(key=key, updated_at=at)
                row.count = (keys[key].left(row.count, elapsed[key]) if key in found else 0.0) + 1
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
