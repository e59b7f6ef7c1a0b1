"""What jobs tell while they are done, on its way from a worker to the arena: sent soon, plies in batches."""

from __future__ import annotations

import asyncio
import contextlib
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from referee.slot import follows

BATCH_WINDOW_S = 0.02
"""How long what is told waits for what follows: every message takes scheduler and arena a millisecond."""
PLY_BATCH_WINDOW_S = 0.2
"""How long plies do."""


class EventStream:
    """Events by the topics of those who asked for the games; `send` is called with a topic and what came together."""

    def __init__(self, send: Callable[[str, list[dict[str, Any]]], None]) -> None:
        self._send = send
        self._topics: dict[str, str] = {}
        """Who wants to hear of a game."""
        self._waiting: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        self._told: deque[dict[str, Any]] = deque()
        """What games have told and nobody has looked at yet."""
        self._soon: asyncio.TimerHandle | None = None
        self._later: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def open(self, loop: asyncio.AbstractEventLoop) -> None:
        """Send in that loop from now on."""
        self._loop = loop

    def close(self) -> None:
        """Send nothing more."""
        self._loop = None
        self._told.clear()

    def follow(self, games: Iterable[str], topic: str) -> None:
        """Send what these games tell to that topic."""
        self._topics.update(dict.fromkeys(games, topic))

    def forget(self, games: Iterable[str]) -> None:
        """These games are over."""
        for game in games:
            self._topics.pop(game, None)

    def tell(self, event: dict[str, Any]) -> None:
        """What a game tells, from any thread. For plies the loop is woken only if it is not to look soon anyway."""
        loop = self._loop
        if not loop:
            return
        self._told.append(event)
        if event["event"] != "plies" or not (self._soon or self._later):
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(self._pass_on)

    def put(self, topic: str, event: dict[str, Any]) -> None:
        """Send an event soon, behind what was told before it; plies wait for each other."""
        self._pass_on()
        self._add(topic, event)

    def _add(self, topic: str, event: dict[str, Any]) -> None:
        self._keep(topic, event)
        if self._loop and event["event"] != "plies":
            self._soon = self._soon or self._loop.call_later(BATCH_WINDOW_S, self.flush)
        elif self._loop:
            self._later = self._later or self._loop.call_later(PLY_BATCH_WINDOW_S, self.flush)

    def flush(self) -> None:
        """Send what waits, now."""
        for timer in (self._soon, self._later):
            if timer:
                timer.cancel()
        self._soon = self._later = None  # before it is looked: who tells from now on wakes the loop
        for topic, event in self._heard():
            self._keep(topic, event)
        waiting, self._waiting = self._waiting, defaultdict(list)
        for topic, events in waiting.items():
            self._send(topic, events)

    def _pass_on(self) -> None:
        for topic, event in self._heard():
            self._add(topic, event)

    def _heard(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """What was told since it was last looked, of games that somebody wants to hear of."""
        while self._told:
            event = self._told.popleft()
            if topic := self._topics.get(str(event.get("game"))):
                yield topic, event

    def _keep(self, topic: str, event: dict[str, Any]) -> None:
        waiting = self._waiting[topic]
        if not waiting or not follows(waiting[-1], event):
            waiting.append(event)
