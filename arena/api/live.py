"""What is going on just now, from the event bus: the plies of running games, and bells that ring on news.

News only: what it misses, streams find in the database. Refuses to know HTTP.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from arena.bus import Event, EventBus

MAX_GAMES = 5_000
"""Running games that are kept; the oldest are forgotten first."""
MAX_CHECKS, MAX_STEPS = 100, 300
"""Checks of versions, and steps of each, that are kept."""


@dataclass(slots=True)
class LiveGame:
    """One attempt at a game as far as it got. `plies[i]` is the event of ply i + 1."""

    attempt: int = 1
    plies: list[Mapping[str, Any]] = field(default_factory=list)
    is_over: bool = False


class Live:
    """The listener of one process: `run` it as a task."""

    def __init__(self, bus: EventBus) -> None:
        self._bus = bus
        self.games: OrderedDict[str, LiveGame] = OrderedDict()
        self.steps: OrderedDict[str, list[str]] = OrderedDict()
        """What the check of a version has said so far, by its number: `loa: handshake: ok`."""
        self._bells: defaultdict[str, set[asyncio.Event]] = defaultdict(set)

    async def run(self) -> None:
        """Listen until cancelled. Dropped for being slow, it begins again: gaps are filled from the database."""
        while True:
            async with self._bus.subscribe("game/", "tournament/", "version/") as events:
                async for event in events:
                    self.take(event)
            # Plies may be missing now: a game whose plies have a gap is told as a whole by its record.
            self.games.clear()
            for key in list(self._bells):
                self._ring(key)

    def take(self, event: Event) -> None:
        """Keep what an event says and ring the bells of its subject."""
        noun, _, rest = event.topic.partition("/")
        name, _, what = rest.partition("/")
        if noun == "game":
            self._take_game(name, what, event.payload)
        elif noun == "version":
            self._take_check(name, what, event.payload)
        self._ring(f"{noun}/{name}")

    def _take_game(self, name: str, what: str, payload: Mapping[str, Any]) -> None:
        if what == "start":
            self.games[name] = LiveGame(int(payload.get("attempt", 1)))
            if len(self.games) > MAX_GAMES:
                self.games.popitem(last=False)
        elif what == "ply" and name in self.games:
            game = self.games[name]
            if payload.get("number") == len(game.plies) + 1:
                game.plies.append(payload)
            else:  # a gap: what follows would be misnumbered
                del self.games[name]
        elif what == "end" and name in self.games:
            self.games.pop(name).is_over = True

    def _take_check(self, name: str, what: str, payload: Mapping[str, Any]) -> None:
        if what == "step":
            steps = self.steps.setdefault(name, [])
            if len(steps) < MAX_STEPS:
                steps.append(str(payload.get("line", ""))[:300])
            if len(self.steps) > MAX_CHECKS:
                self.steps.popitem(last=False)
        elif what == "state":
            self.steps.pop(name, None)

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
