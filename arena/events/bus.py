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
        # Without a size of its own: the mark of the end must find room in a full queue.
        self._events: asyncio.Queue[E | None] = asyncio.Queue()
        self._arrived: deque[E] = deque()
        """Events that the loop has not seen yet."""
        self._is_woken = False
        self._size = size
        self._is_closed = False

    def offer(self, event: Event) -> None:
        """Queue an event if it matches the subscription. Thread-safe."""
        if self._is_closed or not isinstance(event, self._kinds):
            return
        if any(getattr(event, name) != value for name, value in self._subject):
            return
        self._arrived.append(event)
        if self._is_woken:
            return
        # One call for all events that arrive before it runs: each call writes a byte to the pipe that wakes the loop.
        self._is_woken = True
        try:
            self._loop.call_soon_threadsafe(self._put_all)
        except RuntimeError:  # the loop of this subscriber has ended
            self.close()

    def _put_all(self) -> None:
        self._is_woken = False  # before the queue is read: an event that arrives now wakes the loop again
        while self._arrived:
            self._put(self._arrived.popleft())

    def _put(self, event: E) -> None:
        if self._is_closed:
            return
        if self._events.qsize() >= self._size:
            self.close()
            return
        self._events.put_nowait(event)

    def close(self) -> None:
        """End the subscription; queued events are still delivered."""
        if not self._is_closed:
            self._is_closed = True
            self._bus.remove(self)
            self._events.put_nowait(None)

    async def get(self) -> E | None:
        """Return the next event; None once the subscription has ended."""
        event = await self._events.get()
        if event is None:
            self._events.put_nowait(None)  # for further calls
        return event

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
