"""How often somebody may ask, and how many at a time: buckets, gates, waiting rooms. In memory, per process.

bucket holds `burst` tokens, filled with `rate` a second; a request takes one; an empty bucket says how long to wait
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from arena.http.problem import Problem


@dataclass(frozen=True, slots=True)
class Rate:
    """`per_minute` requests in the long run, `burst` at once."""

    per_minute: float
    burst: int


@dataclass(slots=True)
class _Bucket:
    tokens: float
    at: float


class Limiter:
    """The buckets of one rate, by key. The longest unused one is forgotten past `capacity`: memory is bounded."""

    def __init__(self, rate: Rate, *, capacity: int = 20_000, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate = rate
        self._capacity = capacity
        self._clock = clock
        self._buckets: OrderedDict[Hashable, _Bucket] = OrderedDict()

    def take(self, key: Hashable) -> float:
        """Take a token: 0 when there was one, else the seconds until there is."""
        now = self._clock()
        per_second = self.rate.per_minute / 60
        bucket = self._buckets.pop(key, None) or _Bucket(self.rate.burst, now)
        bucket.tokens = min(self.rate.burst, bucket.tokens + (now - bucket.at) * per_second)
        bucket.at = now
        self._buckets[key] = bucket
        if len(self._buckets) > self._capacity:
            self._buckets.popitem(last=False)
        if bucket.tokens >= 1:
            bucket.tokens -= 1
            return 0.0
        return (1 - bucket.tokens) / per_second

    def left(self, key: Hashable) -> int:
        """The whole tokens left after the last `take`."""
        bucket = self._buckets.get(key)
        return int(bucket.tokens) if bucket else self.rate.burst


class Gate:
    """How many things of one key may be open at a time (streams, exports)."""

    def __init__(self, each: int, total: int) -> None:
        self.each, self.total = each, total
        self._open: dict[Hashable, int] = {}
        self.count = 0

    def enter(self, key: Hashable) -> bool:
        """Take a place; False when there is none."""
        if self.count >= self.total or self._open.get(key, 0) >= self.each:
            return False
        self._open[key] = self._open.get(key, 0) + 1
        self.count += 1
        return True

    def leave(self, key: Hashable) -> None:
        """Give the place back."""
        self.count -= 1
        self._open[key] -= 1
        if not self._open[key]:
            del self._open[key]


class WaitingRoom:
    """Where few are served at a time, some wait, and all others are sent away at once: password hashing."""

    def __init__(self, served: int, each: int, total: int) -> None:
        self._gate = Gate(each, total)
        self._served = asyncio.Semaphore(served)

    @asynccontextmanager
    async def turn(self, key: Hashable) -> AsyncIterator[None]:
        """Wait for one's turn. Raises Problem (503) when too many wait, in all or of this key."""
        if not self._gate.enter(key):
            raise Problem(
                "unavailable",
                "too many passwords are being checked just now",
                hint="try again in a few seconds",
                headers={"Retry-After": "5"},
            )
        try:
            async with self._served:
                yield
        finally:
            self._gate.leave(key)
