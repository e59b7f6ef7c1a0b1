"""The live state, built from events: running games, checks and workers, with notification of changes to a subject.

It may miss events: streams then read the state from the database.
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
    CoordinatorWorkers,
    Event,
    GameAborted,
    GameEnded,
    GamePlies,
    GamePly,
    GameSnapshot,
    GameStarted,
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
"""Events that may wait: all games of a large arena arrive at once when the broker reconnects."""
MAX_CHECKS, MAX_STEPS = 100, 300
"""Maximum number of version checks that are kept, and of steps of each check."""
_KINDS = (
    *(GameStarted, GamePly, GamePlies, GameSnapshot, GameEnded, GameAborted),
    *(TournamentChanged, TournamentGameEnded, TournamentPlanned),
    *(VersionChanged, VersionStep, CoordinatorWorkers, BrokerConnected),
)


class Planned(Protocol):
    """A planned game as stored in the database."""

    @property
    def id(self) -> str:
        """The id of the game."""

    @property
    def state(self) -> str:
        """The state of the game."""

    @property
    def attempt(self) -> int:
        """Number of dispatches of the game."""


class Live:
    """The live state of one process: `run` it as a task."""

    def __init__(self, bus: EventBus) -> None:
        self._bus = bus
        self._running = RunningGames()
        self.steps: OrderedDict[int, list[str]] = OrderedDict()
        """The steps of the check of each version: `loa: handshake: ok`."""
        self.workers: CoordinatorWorkers | None = None
        """The last report of the workers."""
        self.workers_at = 0.0
        """When that report arrived (Unix time)."""
        self.revision = 0
        """Number of events so far: cached views of running games are valid for one revision."""
        self._listeners: defaultdict[Subject, set[asyncio.Event]] = defaultdict(set)

    @property
    def games(self) -> Mapping[str, RunningGame]:
        """The running games, by id."""
        return self._running.games

    def of(self, line: Planned) -> RunningGame | None:
        """Return the running game that corresponds to a game from the database.

        Returns None if the game is not running, or if events were lost and the database has a later attempt.
        """
        found = self.games.get(line.id)
        return None if found is None or line.state == "planned" or found.attempt < line.attempt else found

    def mark(self, name: str) -> tuple[int, int]:
        """Return the attempt and the number of plies of a running game, by which cached views of it are validated."""
        game = self.games.get(name)
        return (game.attempt, len(game.plies)) if game else (0, 0)

    async def run(self) -> None:
        """Listen until cancelled. If dropped for being slow, start again; gaps are filled from the database."""
        while True:
            async with self._bus.subscribe(*_KINDS, size=MAX_QUEUED) as events:
                self._bus.publish(SnapshotRequest())
                async for event in events:
                    self.take(event)
            # Plies may be missing now: streams read a game with missing plies from its record.
            self._running = RunningGames()
            self.revision += 1
            self._notify_all()

    def take(self, event: Event) -> None:
        """Apply an event, and notify the listeners of its subject."""
        if isinstance(event, CoordinatorWorkers):
            self.workers, self.workers_at = event, time.time()
            return
        self.revision += 1
        match event:
            case GameStarted() | GamePly() | GamePlies() | GameSnapshot() | GameEnded() | GameAborted():
                self._running.take(event)
            case VersionStep():
                self._take_step(event)
            case VersionChanged():
                self.steps.pop(event.version, None)
            case BrokerConnected():
                self._running = RunningGames()  # ends may have been missed; running games are sent again whole
                self._bus.publish(SnapshotRequest())
                self._notify_all()
        self._notify(event.subject)

    def _take_step(self, event: VersionStep) -> None:
        steps = self.steps.setdefault(event.version, [])
        if len(steps) < MAX_STEPS:
            steps.append(event.line[:MAX_TEXT])
        if len(self.steps) > MAX_CHECKS:
            self.steps.popitem(last=False)

    def _notify_all(self) -> None:
        for subject in list(self._listeners):
            self._notify(subject)

    def _notify(self, subject: Subject) -> None:
        for changed in self._listeners.get(subject, ()):
            changed.set()

    @contextmanager
    def changes(self, subject: Subject) -> Iterator[asyncio.Event]:
        """Yield an asyncio event that is set on every change of a subject."""
        changed = asyncio.Event()
        self._listeners[subject].add(changed)
        try:
            yield changed
        finally:
            self._listeners[subject].discard(changed)
            if not self._listeners[subject]:
                del self._listeners[subject]
