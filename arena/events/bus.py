"""News of the arena inside one process: published under a topic, handed to whoever subscribed to a prefix of it.

News only: the database is the truth, and losing every event loses no result. Queues are bounded; a subscriber that
does not keep up is dropped, and starts again from the database. Refuses to know what the events mean.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import threading
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from arena.errors import ArenaError

if TYPE_CHECKING:
    from arena.config import Settings
    from arena.metrics import Metrics

QUEUE = 1000
"""How many events wait for one subscriber before it is dropped."""


class BusError(ArenaError):
    """A broker that cannot be used: `problem` says which and why, `fix` what to do."""

    kind = "unavailable"

    def __init__(self, problem: str, fix: str) -> None:
        self.problem, self.fix = problem, fix
        super().__init__(f"{problem}; {fix}")


@dataclass(frozen=True, slots=True)
class Event:
    """One piece of news. `seq` grows within this process, and only there."""

    topic: str
    payload: Mapping[str, Any]
    seq: int


class Subscription:
    """The events under a prefix from now on: an async context manager and an async iterator.

    Iteration ends when the subscription is closed, or was dropped for being slow (`is_dropped`).
    """

    def __init__(self, bus: Bus, prefixes: tuple[str, ...], size: int) -> None:
        self._bus = bus
        self._prefixes = prefixes
        self._loop = asyncio.get_running_loop()
        self._events: asyncio.Queue[Event | None] = asyncio.Queue()
        self._size = size
        self.is_dropped = False
        self._is_closed = False

    def offer(self, event: Event) -> None:
        """Put an event in the queue if it is wanted; from any thread."""
        if not self._is_closed and event.topic.startswith(self._prefixes):
            try:
                self._loop.call_soon_threadsafe(self._put, event)
            except RuntimeError:  # the loop of this subscriber has ended
                self.close()

    def _put(self, event: Event) -> None:
        if self._is_closed:
            return
        if self._events.qsize() >= self._size:
            self.is_dropped = True
            self.close()
            return
        self._events.put_nowait(event)

    def close(self) -> None:
        """End the subscription; what is queued is still iterated over."""
        if not self._is_closed:
            self._is_closed = True
            self._bus.remove(self)
            self._events.put_nowait(None)

    async def get(self) -> Event | None:
        """The next event; None at the end, again and again."""
        event = await self._events.get()
        if event is None:
            self._events.put_nowait(None)
        return event

    def __aiter__(self) -> AsyncIterator[Event]:
        return self

    async def __anext__(self) -> Event:
        event = await self.get()
        if event is None:
            raise StopAsyncIteration
        return event

    async def __aenter__(self) -> Subscription:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class EventBus(Protocol):
    """What the arena needs of a bus; `Bus` is the one inside a process."""

    def publish(self, topic: str, payload: Mapping[str, Any]) -> None:
        """Tell everybody who subscribed to a prefix of `topic`. From any thread; never blocks."""

    def subscribe(self, *prefixes: str, size: int = QUEUE) -> Subscription:
        """The events from now on whose topic starts with one of `prefixes`. Inside a running event loop."""


class Bus:
    """The bus inside one process."""

    def __init__(self) -> None:
        self._subscriptions: set[Subscription] = set()
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)

    def publish(self, topic: str, payload: Mapping[str, Any]) -> None:
        """Tell everybody who subscribed to a prefix of `topic`. From any thread; never blocks."""
        with self._lock:
            # Numbered under the lock, so that everybody sees growing numbers.
            event = Event(topic, payload, next(self._numbers))
            listeners = tuple(self._subscriptions)
            for subscription in listeners:
                subscription.offer(event)

    def subscribe(self, *prefixes: str, size: int = QUEUE) -> Subscription:
        """The events from now on whose topic starts with one of `prefixes` (none given: all of them)."""
        subscription = Subscription(self, prefixes or ("",), size)
        with self._lock:
            self._subscriptions.add(subscription)
        return subscription

    def tell(self, subscription: Subscription, topic: str, payload: Mapping[str, Any]) -> None:
        """Tell one subscriber only."""
        with self._lock:
            subscription.offer(Event(topic, payload, next(self._numbers)))

    def remove(self, subscription: Subscription) -> None:
        """Forget a subscription; harmless when it is gone."""
        # No lock: `offer` may call this under it, and discarding from a set is atomic.
        self._subscriptions.discard(subscription)


@contextlib.asynccontextmanager
async def open_bus(
    settings: Settings, metrics: Metrics | None = None, *, has_pages: bool = True
) -> AsyncIterator[EventBus]:
    """The bus a server's settings name: over a broker, or inside this process alone. Raises BusError.

    What it counts goes into `metrics`. A process without pages hears less: only what a referee needs.
    """
    if not settings.mqtt:
        yield Bus()
        return
    from arena.events.mqtt.bus import connected
    from arena.metrics import Metrics

    async with connected(settings, metrics or Metrics(), has_pages=has_pages) as bus:
        yield bus
