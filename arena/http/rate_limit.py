"""Rate limits (token buckets) and concurrency limits.

A bucket holds `burst` tokens and refills at a constant rate. A request takes one, or more if it is long; a bucket with
too few returns the seconds to wait.

Buckets are in memory. Shared limiters also count in the database, a batch at a time, for all web processes together.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from cachetools import LRUCache

from arena.errors import StoreUnavailableError
from arena.http.problem import Problem

BatchCounter = Callable[[str, int, float], float]
"""Counts a batch of requests for all processes, as `arena.services.access.count_requests` does for its arena."""


@dataclass(frozen=True, slots=True)
class Rate:
    """`per_minute` requests on average, at most `burst` at once."""

    per_minute: float
    burst: int


@dataclass(slots=True)
class _Bucket:
    tokens: float
    at: float
    uncounted: float = 0
    """Tokens taken that are not yet counted in the database."""
    closed_until: float = 0.0
    """End of the pause that the shared count demands."""


class RateLimiter:
    """The buckets of one rate, by key. Beyond `capacity` the least recently used one is dropped: memory is bounded."""

    def __init__(self, rate: Rate, *, capacity: int = 20_000, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate = rate
        self._clock = clock
        self._buckets: LRUCache[Hashable, _Bucket] = LRUCache(capacity)

    def take(self, key: Hashable, cost: float = 1) -> float:
        """Take `cost` tokens, at most `burst`, and return 0. If too few are left, return the seconds to wait."""
        # A request that costs more than the whole burst could never be admitted.
        now, cost = self._clock(), min(cost, self.rate.burst)
        per_second = self.rate.per_minute / 60
        bucket = self._buckets.get(key) or _Bucket(self.rate.burst, now)
        bucket.tokens = min(self.rate.burst, bucket.tokens + (now - bucket.at) * per_second)
        bucket.at = now
        self._buckets[key] = bucket
        if bucket.tokens >= cost:
            bucket.tokens -= cost
            return 0.0
        return (cost - bucket.tokens) / per_second

    async def admit(self, key: Hashable, cost: float = 1) -> float:
        """Take tokens like `take`. A shared limiter counts those taken by all web processes."""
        return self.take(key, cost)

    def left(self, key: Hashable) -> int:
        """Return the number of whole tokens left after the last `take`."""
        bucket = self._buckets.get(key)
        return int(bucket.tokens) if bucket else self.rate.burst


class SharedRateLimiter(RateLimiter):
    """A rate limiter shared by processes: each counts its tokens in the database, a quarter of the burst at a time.

    This saves a query per request, but each process may admit up to a quarter of the burst too many.
    """

    def __init__(
        self, name: str, rate: Rate, count: BatchCounter, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(rate, clock=clock)
        self._name, self._count = name, count
        self._batch = max(1, rate.burst // 4)

    async def admit(self, key: Hashable, cost: float = 1) -> float:
        """Take tokens from the limit that all processes share. Without the database each process has its own limit."""
        if wait := self.take(key, cost):
            return wait
        bucket = self._buckets[key]
        if (wait := bucket.closed_until - self._clock()) > 0:
            return wait
        bucket.uncounted += min(cost, self.rate.burst)
        free, forgiven_s = self.rate.burst // self._batch, self._batch * 60 / self.rate.per_minute
        while bucket.uncounted >= self._batch:
            bucket.uncounted -= self._batch
            with suppress(StoreUnavailableError):
                wait = await asyncio.to_thread(self._count, f"{self._name} {key}", free, forgiven_s)
                bucket.closed_until = self._clock() + wait
            if wait > 0:
                return wait
        return 0.0


class ConcurrencyLimiter:
    """A limit on the streams, exports or connections that are open at a time: per key and in total."""

    def __init__(self, each: int, total: int) -> None:
        self.each, self.total = each, total
        self._open: dict[Hashable, int] = {}
        self.count = 0

    def enter(self, key: Hashable) -> bool:
        """Count one more for a key; return False if the limit is reached."""
        if self.count >= self.total or self._open.get(key, 0) >= self.each:
            return False
        self._open[key] = self._open.get(key, 0) + 1
        self.count += 1
        return True

    def leave(self, key: Hashable) -> None:
        """Count one less for a key."""
        self.count -= 1
        self._open[key] -= 1
        if not self._open[key]:
            del self._open[key]


class BoundedQueue:
    """A queue for work that takes long, with few workers and bounded length: further clients are refused at once.

    The problem they get says `crowd`.
    """

    def __init__(
        self, workers: int, each: int, total: int, crowd: str = "too many passwords are being checked"
    ) -> None:
        self._crowd = crowd
        self._places = ConcurrencyLimiter(each, total)
        self._workers = asyncio.Semaphore(workers)

    @asynccontextmanager
    async def turn(self, key: Hashable) -> AsyncIterator[None]:
        """Wait for a turn. Raises Problem (503) when the queue is full, in total or for this key."""
        if not self._places.enter(key):
            raise Problem(
                "unavailable",
                self._crowd,
                hint="try again in a few seconds",
                headers={"Retry-After": "5"},
            )
        try:
            async with self._workers:
                yield
        finally:
            self._places.leave(key)
