"""How often somebody may ask, and how many at a time: buckets, gates, waiting rooms.

bucket holds `burst` tokens, filled with `rate` a second; a request takes one; an empty bucket says how long to wait

Buckets are in memory. What goes through those of all web processes is counted in the database, a portion at a time.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from cachetools import LRUCache

from arena.http.problem import Problem
from arena.store import StoreUnavailableError
from arena.store.base.credentials import digest_of
from arena.store.people.login_attempts import BackoffPolicy, LoginAttempts


@dataclass(frozen=True, slots=True)
class Rate:
    """`per_minute` requests in the long run, `burst` at once."""

    per_minute: float
    burst: int


@dataclass(slots=True)
class _Bucket:
    tokens: float
    at: float
    uncounted: int = 0
    """Tokens taken of which the other processes do not know."""
    closed_until: float = 0.0
    """Until when all processes together have let through too much."""


class RateLimiter:
    """The buckets of one rate, by key. The longest unused one is forgotten past `capacity`: memory is bounded."""

    def __init__(self, rate: Rate, *, capacity: int = 20_000, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate = rate
        self._clock = clock
        self._buckets: LRUCache[Hashable, _Bucket] = LRUCache(capacity)

    def take(self, key: Hashable) -> float:
        """Take a token: 0 when there was one, else the seconds until there is."""
        now = self._clock()
        per_second = self.rate.per_minute / 60
        bucket = self._buckets.get(key) or _Bucket(self.rate.burst, now)
        bucket.tokens = min(self.rate.burst, bucket.tokens + (now - bucket.at) * per_second)
        bucket.at = now
        self._buckets[key] = bucket
        if bucket.tokens >= 1:
            bucket.tokens -= 1
            return 0.0
        return (1 - bucket.tokens) / per_second

    async def admit(self, key: Hashable) -> float:
        """`take`, of what all processes give together: 0 when there was a token, else the seconds until there is."""
        return self.take(key)

    def left(self, key: Hashable) -> int:
        """The whole tokens left after the last `take`."""
        bucket = self._buckets.get(key)
        return int(bucket.tokens) if bucket else self.rate.burst


class SharedRateLimiter(RateLimiter):
    """A limiter shared by several processes: each stores its count in `attempts` after a quarter of the burst.

    So a database is not asked for every request, and each process may let through a quarter more than there is.
    """

    def __init__(
        self, name: str, rate: Rate, attempts: LoginAttempts, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(rate, clock=clock)
        self._name, self._attempts = name, attempts
        self._portion = max(1, rate.burst // 4)
        portion_s = self._portion * 60 / rate.per_minute
        self._policy = BackoffPolicy(rate.burst // self._portion, forgiven_s=portion_s, longest_s=portion_s)

    async def admit(self, key: Hashable) -> float:
        """As of one limiter for all. A database that is away counts nothing: then each process keeps its own limit."""
        if wait := self.take(key):
            return wait
        bucket = self._buckets[key]
        if (wait := bucket.closed_until - self._clock()) > 0:
            return wait
        bucket.uncounted += 1
        if bucket.uncounted < self._portion:
            return 0.0
        bucket.uncounted = 0
        counted = {digest_of(f"{self._name} {key}"): self._policy}
        with suppress(StoreUnavailableError):
            wait = await asyncio.to_thread(self._attempts.take, counted)
            bucket.closed_until = self._clock() + wait
        return max(0.0, wait)


class ConcurrencyLimiter:
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


class BoundedQueue:
    """Where few are served at a time, some wait, and all others are sent away at once: password hashing."""

    def __init__(self, served: int, each: int, total: int) -> None:
        self._gate = ConcurrencyLimiter(each, total)
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
