"""Sends the events of jobs from a worker to the arena: promptly, with plies in batches."""

from __future__ import annotations

import asyncio
import contextlib
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from referee.play.slot import follows

BATCH_WINDOW_S = 0.02
"""How long an event waits for further events to be sent with: a message costs scheduler and arena a millisecond."""
PLY_BATCH_WINDOW_S = 0.2
"""How long plies wait for further plies to be sent with."""


class EventStream:
    """The event stream: batches events by topic, one topic per arena, and calls `send` with a topic and its batch."""

    def __init__(self, send: Callable[[str, list[dict[str, Any]]], None]) -> None:
        self._send = send
        self._topics: dict[str, str] = {}
        """The topic of each game."""
        self._waiting: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        self._incoming: deque[dict[str, Any]] = deque()
        """Events that are not assigned to a topic yet."""
        self._soon: asyncio.TimerHandle | None = None
        self._later: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def open(self, loop: asyncio.AbstractEventLoop) -> None:
        """Send events in this event loop from now on."""
        self._loop = loop

    def close(self) -> None:
        """Stop sending."""
        self._loop = None
        self._incoming.clear()

    def follow(self, games: Iterable[str], topic: str) -> None:
        """Send the events of these games to this topic."""
        self._topics.update(dict.fromkeys(games, topic))

    def forget(self, games: Iterable[str]) -> None:
        """Stop sending the events of these games, which are over."""
        for game in games:
            self._topics.pop(game, None)

    def add(self, event: dict[str, Any]) -> None:
        """Add an event of a game. Thread-safe. Plies wake the loop only if no flush is scheduled."""
        loop = self._loop
        if not loop:
            return
        self._incoming.append(event)
        if event["event"] != "plies" or not (self._soon or self._later):
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(self._batch_incoming)

    def send_soon(self, topic: str, event: dict[str, Any]) -> None:
        """Send an event soon, after all earlier ones; plies are batched."""
        self._batch_incoming()
        self._add(topic, event)

    def _add(self, topic: str, event: dict[str, Any]) -> None:
        self._keep(topic, event)
        if self._loop and event["event"] != "plies":
            self._soon = self._soon or self._loop.call_later(BATCH_WINDOW_S, self.flush)
        elif self._loop:
            self._later = self._later or self._loop.call_later(PLY_BATCH_WINDOW_S, self.flush)

    def flush(self) -> None:
        """Send all waiting events now."""
        for timer in (self._soon, self._later):
            if timer:
                timer.cancel()
        self._soon = self._later = None  # before the queue is read: later events wake the loop
        for topic, event in self._routed():
            self._keep(topic, event)
        waiting, self._waiting = self._waiting, defaultdict(list)
        for topic, events in waiting.items():
            self._send(topic, events)

    def _batch_incoming(self) -> None:
        for topic, event in self._routed():
            self._add(topic, event)

    def _routed(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the new events of followed games, with their topic."""
        while self._incoming:
            event = self._incoming.popleft()
            if topic := self._topics.get(str(event.get("game"))):
                yield topic, event

    def _keep(self, topic: str, event: dict[str, Any]) -> None:
        waiting = self._waiting[topic]
        if not waiting or not follows(waiting[-1], event):
            waiting.append(event)
