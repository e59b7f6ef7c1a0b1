"""What jobs tell while they are done, on its way from a worker to the arena: sent soon, plies in batches."""

from __future__ import annotations

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from referee.slot import follows

SOON_S = 0.02
"""How long what is told waits for what follows: every message takes scheduler and arena a millisecond."""
BATCH_S = 0.2
"""How long plies do."""


class Reports:
    """Events by the topics of those who asked for the games; `send` is called with a topic and what came together."""

    def __init__(self, send: Callable[[str, list[dict[str, Any]]], None]) -> None:
        self._send = send
        self._topics: dict[str, str] = {}
        """Who wants to hear of a game."""
        self._waiting: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        self._soon: asyncio.TimerHandle | None = None
        self._later: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def open(self, loop: asyncio.AbstractEventLoop) -> None:
        """Send in that loop from now on."""
        self._loop = loop

    def close(self) -> None:
        """Send nothing more."""
        self._loop = None

    def follow(self, games: Iterable[str], topic: str) -> None:
        """Send what these games tell to that topic."""
        self._topics.update(dict.fromkeys(games, topic))

    def forget(self, games: Iterable[str]) -> None:
        """These games are over."""
        for game in games:
            self._topics.pop(game, None)

    def tell(self, event: dict[str, Any]) -> None:
        """What a game tells, from any thread."""
        if self._loop:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._pass_on, event)

    def put(self, topic: str, event: dict[str, Any]) -> None:
        """Send an event soon; plies wait for each other."""
        waiting = self._waiting[topic]
        if not waiting or not follows(waiting[-1], event):
            waiting.append(event)
        if self._loop and event["event"] != "plies":
            self._soon = self._soon or self._loop.call_later(SOON_S, self.flush)
        elif self._loop:
            self._later = self._later or self._loop.call_later(BATCH_S, self.flush)

    def flush(self) -> None:
        """Send what waits, now."""
        for timer in (self._soon, self._later):
            if timer:
                timer.cancel()
        self._soon = self._later = None
        waiting, self._waiting = self._waiting, defaultdict(list)
        for topic, events in waiting.items():
            self._send(topic, events)

    def _pass_on(self, event: dict[str, Any]) -> None:
        if topic := self._topics.get(str(event.get("game"))):
            self.put(topic, event)
