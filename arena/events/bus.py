"""The event bus inside one process: events are delivered to the subscribers of their type.

Events are hints: the database is the truth, and losing every event loses no result. Queues are bounded; a slow
subscriber is dropped, and starts again from the database.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterator, Mapping
from dataclasses import fields
from types import TracebackType
from typing import Any, Generic, Protocol, TypeVar

from arena.events.messages import Event
from referee.errors import ArenaError

E = TypeVar("E", bound=Event)
MAX_QUEUED = 1000
"""Events that wait for one subscriber before it is dropped."""


class BusError(ArenaError):
    """A broker that cannot be used: `problem` names the broker and the cause, `fix` is what to do."""

    kind = "unavailable"

    def __init__(self, problem: str, fix: str) -> None:
        self.problem, self.fix = problem, fix
        super().__init__(f"{problem}; {fix}")


class Subscription(Generic[E]):
    """Future events of some types with some subject: an async context manager and an async iterator.

    Iteration ends when the subscription is closed, or was dropped for being slow.
    """

    def __init__(self, bus: Bus, kinds: tuple[type[E], ...], subject: Mapping[str, object], size: int) -> None:
        self._bus = bus
        self._kinds = kinds
        self._subject = tuple(subject.items())
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[E] = deque()
        self._news = asyncio.Event()
        self._is_woken = False
        self._size = size
        self._is_closed = False

    def offer(self, event: Event) -> None:
        """Queue an event if it matches the subscription. Thread-safe."""
        if self._is_closed or not isinstance(event, self._kinds):
            return
        if any(getattr(event, name) != value for name, value in self._subject):
            return
        if len(self._waiting) < self._size:
            self._waiting.append(event)
        else:
            self._end()
        if self._is_woken:
            return
        # One call for all events that arrive before it runs: each call writes a byte to the pipe that wakes the loop.
        self._is_woken = True
        try:
            self._loop.call_soon_threadsafe(self._wake)
        except RuntimeError:  # the loop of this subscriber has ended
            self._end()

    def _wake(self) -> None:
        self._is_woken = False  # before events are taken: one that arrives now wakes the loop again
        self._news.set()

    def _end(self) -> None:
        self._is_closed = True
        self._bus.remove(self)

    def close(self) -> None:
        """End the subscription; queued events are still delivered. Call it in the subscriber's loop."""
        self._end()
        self._news.set()

    async def get(self) -> E | None:
        """Return the next event; None once the subscription has ended."""
        while not self._waiting:
            if self._is_closed:
                return None
            self._news.clear()
            if not self._waiting and not self._is_closed:  # another thread may have added one meanwhile
                await self._news.wait()
        return self._waiting.popleft()

    def __aiter__(self) -> AsyncIterator[E]:
        return self

    async def __anext__(self) -> E:
        event = await self.get()
        if event is None:
            raise StopAsyncIteration
        return event

    async def __aenter__(self) -> Subscription[E]:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class EventBus(Protocol):
    """The interface of a bus; `Bus` implements it inside a process."""

    def publish(self, event: Event) -> None:
        """Deliver an event to the subscribers of its type. Thread-safe; never blocks."""

    def subscribe(self, *kinds: type[E], size: int = MAX_QUEUED, **subject: object) -> Subscription[E]:
        """Subscribe to future events of these types with these values of fields. Needs a running event loop."""


class Bus:
    """The bus inside one process."""

    def __init__(self) -> None:
        self._subscriptions: set[Subscription[Any]] = set()
        self._lock = threading.Lock()

    def publish(self, event: Event) -> None:
        """Deliver an event to the subscribers of its type. Thread-safe; never blocks."""
        with self._lock:  # all subscribers receive events in the same order
            for subscription in tuple(self._subscriptions):
                subscription.offer(event)

    def subscribe(self, *kinds: type[E], size: int = MAX_QUEUED, **subject: object) -> Subscription[E]:
        """Subscribe to future events of these types with these values of fields, such as `game="ab12"`.

        Raises TypeError for a field that one of the types lacks.
        """
        for kind in kinds:
            if missing := subject.keys() - {field.name for field in fields(kind)}:
                raise TypeError(f"{kind.__name__} has no {', '.join(sorted(missing))}")
        subscription = Subscription(self, kinds, subject, size)
        with self._lock:
            self._subscriptions.add(subscription)
        return subscription

    def remove(self, subscription: Subscription[E]) -> None:
        """Remove a subscription, unless it was removed already."""
        # No lock: `offer` may call this while it holds the lock, and discarding from a set is atomic.
        self._subscriptions.discard(subscription)
