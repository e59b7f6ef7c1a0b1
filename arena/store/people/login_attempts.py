"""Wrong log-ins, counted for all web processes together, so that guessing gets slow; and requests, by portions.

Who may try is told to wait longer and longer, never for good: a wrong try is forgotten after a while. Refuses to know
what it counts by: a key is the digest of anything.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, select, update
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from arena.store.base.engine import Sessions
from arena.store.base.models import Guess, now

GUESSES_KEPT = timedelta(days=2)
"""A key that nobody tried for so long counts as never tried."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How many wrong tries are `free`, after how long one is forgiven, and the longest wait after all the others.

    The wait begins with a second and doubles with each wrong try.
    """

    free: int
    forgiven_s: float
    longest_s: float

    def left(self, count: float, elapsed_s: float) -> float:
        """How many of the wrong tries still count, so long after the last one."""
        return max(0.0, count - elapsed_s / self.forgiven_s)

    def wait_s(self, count: float, elapsed_s: float) -> float:
        """Seconds until the next try, so long after the last one; 0 = now."""
        beyond = math.ceil(self.left(count, elapsed_s)) - self.free
        if beyond < 0:
            return 0.0
        return max(0.0, min(self.longest_s, 2.0 ** min(beyond, 20)) - elapsed_s)


class Guesses:
    """By key."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def take(self, keys: Mapping[str, Patience], at: datetime | None = None) -> float:
        """A try, counted as wrong for each of these keys until `give_back`; or, counting nothing, seconds to wait.

        0 = the try may be made.
        """
        at = at or now()
        try:
            return self._take(keys, at)
        except IntegrityError:  # somebody else has just made one of the rows
            return self._take(keys, at)

    def _take(self, keys: Mapping[str, Patience], at: datetime) -> float:
        rows = select(Guess).where(col(Guess.key).in_(keys)).order_by(col(Guess.key)).with_for_update()
        with self._sessions.writing() as session:
            found = {row.key: row for row in session.scalars(rows)}
            elapsed = {key: max(0.0, (at - row.updated_at).total_seconds()) for key, row in found.items()}
            wait = max((keys[key].wait_s(row.count, elapsed[key]) for key, row in found.items()), default=0.0)
            if wait > 0:
                return wait
            for key in sorted(keys):
                row = found.get(key) or Guess(key=key, updated_at=at)
                row.count = (keys[key].left(row.count, elapsed[key]) if key in found else 0.0) + 1
                row.updated_at = at
                session.add(row)
        return 0.0

    def give_back(self, keys: Collection[str]) -> None:
        """The try that was taken last was right: it does not count."""
        mine = col(Guess.key).in_(keys)
        with self._sessions.writing() as session:
            session.execute(update(Guess).where(mine, col(Guess.count) >= 1).values(count=col(Guess.count) - 1))

    def forget(self, keys: Collection[str]) -> None:
        """Count nothing of these keys any more."""
        with self._sessions.writing() as session:
            session.execute(delete(Guess).where(col(Guess.key).in_(keys)))
