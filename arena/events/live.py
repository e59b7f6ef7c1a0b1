"""What is going on just now, from the event bus: the plies of running games, and bells that ring on news.

News only: what it misses, streams find in the database. Refuses to know HTTP.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from arena.events.bus import Event, EventBus
from arena.events.running import Running, RunningGame

WAITING = 10_000
"""Events that may wait to be taken: all games of a large arena come at once when a broker is back."""
MAX_CHECKS, MAX_STEPS = 100, 300
"""Checks of versions, and steps of each, that are kept."""


class Live:
    """The listener of one process: `run` it as a task."""

    def __init__(self, bus: EventBus) -> None:
        self._bus = bus
        self._running = Running()
        self.steps: OrderedDict[str, list[str]] = OrderedDict()
        """What the check of a version has said so far, by its number: `loa: handshake: ok`."""
        self.crew: Mapping[str, Any] = {}
        """The workers of the referee, as last told."""
        self.crew_at = 0.0
        """When that was, by the clock of the system."""
        self.news = 0
        """How many events there were: what is shown of running games is as old as this number."""
        self._bells: defaultdict[str, set[asyncio.Event]] = defaultdict(set)

    @property
    def games(self) -> Mapping[str, RunningGame]:
        """The games that are running, by their id."""
        return self._running.games

    def mark(self, name: str) -> tuple[int, int]:
        """The attempt and the number of plies known of a running game: what is shown of it is as old as that."""
        game = self.games.get(name)
        return (game.attempt, len(game.plies)) if game else (0, 0)

    async def run(self) -> None:
        """Listen until cancelled. Dropped for being slow, it begins again: gaps are filled from the database."""
        while True:
            async with self._bus.subscribe(
                "game/", "tournament/", "version/", "bus/", "referee/crew", size=WAITING
            ) as events:
                async for event in events:
                    self.take(event)
            # Plies may be missing now: a game whose plies have a gap is told as a whole by its record.
            self._running = Running()
            self.news += 1
            self._ring_all()

    def take(self, event: Event) -> None:
        """Keep what an event says and ring the bells of its subject."""
        if event.topic == "referee/crew":
            self.crew, self.crew_at = event.payload, time.time()
            return
        self.news += 1
        noun, _, rest = event.topic.partition("/")
        name, _, what = rest.partition("/")
        if noun == "game":
            self._running.take(name, what, event.payload)
        elif noun == "version":
            self._take_check(name, what, event.payload)
        if noun == "bus":  # a broker is back: nobody knows what was missed
            self._ring_all()
        else:
            self._ring(f"{noun}/{name}")

    def _take_check(self, name: str, what: str, payload: Mapping[str, Any]) -> None:
        if what == "step":
            steps = self.steps.setdefault(name, [])
            if len(steps) < MAX_STEPS:
                steps.append(str(payload.get("line", ""))[:300])
            if len(self.steps) > MAX_CHECKS:
                self.steps.popitem(last=False)
        elif what == "state":
            self.steps.pop(name, None)

    def _ring_all(self) -> None:
        for key in list(self._bells):
            self._ring(key)

    def _ring(self, key: str) -> None:
        for bell in self._bells.get(key, ()):
            bell.set()

    @contextmanager
    def bell(self, key: str) -> Iterator[asyncio.Event]:
        """An event that is set on every news of a subject such as `game/ab12` or `tournament/7`."""
        bell = asyncio.Event()
        self._bells[key].add(bell)
        try:
            yield bell
        finally:
            self._bells[key].discard(bell)
            if not self._bells[key]:
                del self._bells[key]
