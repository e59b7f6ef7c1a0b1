"""What is going on just now, from the event bus: the plies of running games, and bells that ring on news.

News only: what it misses, streams find in the database. Refuses to know HTTP.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol

from arena.events.bus import EventBus
from arena.events.messages import (
    MAX_TEXT,
    BrokerConnected,
    Event,
    GameAborted,
    GameEnded,
    GamePlies,
    GamePly,
    GameSnapshot,
    GameStarted,
    RefereeWorkers,
    SnapshotRequest,
    Subject,
    TournamentChanged,
    TournamentGameEnded,
    TournamentPlanned,
    VersionChanged,
    VersionStep,
)
from arena.events.running import RunningGame, RunningGames

MAX_QUEUED = 10_000
"""Events that may wait to be taken: all games of a large arena come at once when a broker is back."""
MAX_CHECKS, MAX_STEPS = 100, 300
"""Checks of versions, and steps of each, that are kept."""
_HEARD = (
    *(GameStarted, GamePly, GamePlies, GameSnapshot, GameEnded, GameAborted),
    *(TournamentChanged, TournamentGameEnded, TournamentPlanned),
    *(VersionChanged, VersionStep, RefereeWorkers, BrokerConnected),
)


class Planned(Protocol):
    """What the database knows of a game."""

    @property
    def id(self) -> str:
        """The game."""

    @property
    def state(self) -> str:
        """Its state."""

    @property
    def attempt(self) -> int:
        """How often it was handed out."""


class Live:
    """The listener of one process: `run` it as a task."""

    def __init__(self, bus: EventBus) -> None:
        self._bus = bus
        self._running = RunningGames()
        self.steps: OrderedDict[int, list[str]] = OrderedDict()
        """What the check of a version has said so far, by its number: `loa: handshake: ok`."""
        self.workers: RefereeWorkers | None = None
        """The workers of the referee, as last told."""
        self.workers_at = 0.0
        """When that was, by the clock of the system."""
        self.news = 0
        """How many events there were: what is shown of running games is as old as this number."""
        self._bells: defaultdict[Subject, set[asyncio.Event]] = defaultdict(set)

    @property
    def games(self) -> Mapping[str, RunningGame]:
        """The games that are running, by their id."""
        return self._running.games

    def of(self, line: Planned) -> RunningGame | None:
        """A game as far as it got; None where the database knows better: news of its end may have been lost."""
        found = self.games.get(line.id)
        return None if found is None or line.state == "planned" or found.attempt < line.attempt else found

    def mark(self, name: str) -> tuple[int, int]:
        """The attempt and the number of plies known of a running game: what is shown of it is as old as that."""
        game = self.games.get(name)
        return (game.attempt, len(game.plies)) if game else (0, 0)

    async def run(self) -> None:
        """Listen until cancelled. Dropped for being slow, it begins again: gaps are filled from the database."""
        while True:
            async with self._bus.subscribe(*_HEARD, size=MAX_QUEUED) as events:
                self._bus.publish(SnapshotRequest())
                async for event in events:
                    self.take(event)
            # Plies may be missing now: a game whose plies have a gap is told as a whole by its record.
            self._running = RunningGames()
            self.news += 1
            self._ring_all()

    def take(self, event: Event) -> None:
        """Keep what an event says and ring the bells of its subject."""
        if isinstance(event, RefereeWorkers):
            self.workers, self.workers_at = event, time.time()
            return
        self.news += 1
        match event:
            case GameStarted() | GamePly() | GamePlies() | GameSnapshot() | GameEnded() | GameAborted():
                self._running.take(event)
            case VersionStep():
                self._take_step(event)
            case VersionChanged():
                self.steps.pop(event.version, None)
            case BrokerConnected():
                self._running = RunningGames()  # ends may have been missed; what still runs is told again as a whole
                self._bus.publish(SnapshotRequest())
                self._ring_all()
        self._ring(event.subject)

    def _take_step(self, event: VersionStep) -> None:
        steps = self.steps.setdefault(event.version, [])
        if len(steps) < MAX_STEPS:
            steps.append(event.line[:MAX_TEXT])
        if len(self.steps) > MAX_CHECKS:
            self.steps.popitem(last=False)

    def _ring_all(self) -> None:
        for subject in list(self._bells):
            self._ring(subject)

    def _ring(self, subject: Subject) -> None:
        for bell in self._bells.get(subject, ()):
            bell.set()

    @contextmanager
    def bell(self, subject: Subject) -> Iterator[asyncio.Event]:
        """An event that is set on every news of a subject."""
        bell = asyncio.Event()
        self._bells[subject].add(bell)
        try:
            yield bell
        finally:
            self._bells[subject].discard(bell)
            if not self._bells[subject]:
                del self._bells[subject]
