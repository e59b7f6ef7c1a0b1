"""The live state, built from events: running games, checks and workers, with notification of changes to a subject.

It may miss events: streams then read the state from the database. The number of running games is bounded: the oldest
are removed first.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Protocol

from cachetools import FIFOCache, TTLCache

from arena.events.bus import EventBus
from arena.events.messages import (
    BrokerConnected,
    CoordinatorWorkers,
    Event,
    GameAborted,
    GameEnded,
    GameEvent,
    GameMoved,
    GamePlies,
    GameSnapshot,
    GameStarted,
    GameWatched,
    SnapshotRequest,
    Subject,
    TournamentChanged,
    TournamentPlanned,
    VersionChanged,
    VersionStep,
)
from arena.events.payload import MAX_TEXT
from referee.game.record import Ply

MAX_GAMES = 5_000
"""Maximum number of running games that are kept."""
WATCH_S = 30.0
"""How long the plies of a game are sent after a request for them."""
RENEW_S = 8.0
"""Time after which a request is renewed while the game is read: streams read a silent game every ten seconds."""


@dataclass(slots=True)
class RunningGame:
    """One attempt at a game, with its plies so far."""

    attempt: int = 1
    plies: list[Ply] = field(default_factory=list)
    tournament: int = 0
    moved_at: float = field(default_factory=time.time)
    """When the last ply arrived, or before that, when the game started (Unix time)."""

    def snapshot(self, game: str) -> GameSnapshot:
        """Return the whole game without principal variations, so that a long game fits into a message."""
        plies = tuple(replace(ply, pv="") if ply.pv else ply for ply in self.plies)
        return GameSnapshot(game=game, tournament=self.tournament, attempt=self.attempt, plies=plies)


class RunningGames:
    """Running games by their id; beyond `MAX_GAMES` the game that started first is removed."""

    def __init__(self) -> None:
        self.games: FIFOCache[str, RunningGame] = FIFOCache(MAX_GAMES)
        self._early: FIFOCache[str, list[Ply]] = FIFOCache(MAX_GAMES)
        """Plies that arrived before the start of their game: fast bots overtake the coordinator."""

    def take(self, event: GameEvent) -> None:
        match event:
            case GameMoved():
                self._add(event.game, event.first, event.plies)
            case GamePlies():
                self._extend(event)
            case GameStarted():
                plies = self._early.pop(event.game, [])
                self.games[event.game] = RunningGame(event.attempt, plies, event.tournament)
            case GameSnapshot():
                self._replace(event)
            case GameEnded() | GameAborted():
                self.forget(event.game)

    def forget(self, game: str) -> None:
        """Remove a game that is over, and plies that came before its start."""
        self.games.pop(game, None)
        self._early.pop(game, None)

    def _add(self, name: str, first: int, plies: Sequence[Ply]) -> None:
        """Append plies. After a gap nothing is appended until a snapshot fills it or the game ends."""
        game = self.games.get(name)
        if game is not None and first == len(game.plies) + 1:
            game.plies.extend(plies)
            game.moved_at = time.time()
        # A first ply of a game that has plies belongs to its next attempt, whose start has not been heard of yet.
        elif first == 1 and (game is None or game.plies):
            self._early[name] = list(plies)
        elif (early := self._early.get(name)) is not None and first == len(early) + 1:
            early.extend(plies)

    def _extend(self, batch: GamePlies) -> None:
        """Append the new plies of a batch; after a gap nothing is appended."""
        game = self.games.get(batch.game)
        if game is None or game.attempt != batch.attempt or batch.first > len(game.plies) + 1:
            return
        if new := batch.plies[len(game.plies) + 1 - batch.first :]:
            game.plies.extend(new)
            game.moved_at = time.time()

    def _replace(self, snapshot: GameSnapshot) -> None:
        """Replace a game by a snapshot unless the snapshot is older."""
        known = self.games.get(snapshot.game)
        if known is None or snapshot.attempt > known.attempt:
            self.games[snapshot.game] = RunningGame(snapshot.attempt, list(snapshot.plies), snapshot.tournament)
        elif snapshot.attempt == known.attempt and len(snapshot.plies) > len(known.plies):
            known.plies, known.moved_at = list(snapshot.plies), time.time()


MAX_QUEUED = 10_000
"""Events that may wait: all games of a large arena arrive at once when the broker reconnects."""
MAX_CHECKS, MAX_STEPS = 100, 300
"""Maximum number of version checks that are kept, and of steps of each check."""
_OPEN = ("planned", "queued", "running")
"""The states of games that may have plies to come."""
_KINDS = (
    *(GameStarted, GameMoved, GamePlies, GameSnapshot, GameEnded, GameAborted),
    *(TournamentChanged, TournamentPlanned),
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
    """The live state of one process: `run` it as a task. `clock` measures how long a game has been watched."""

    def __init__(self, bus: EventBus, clock: Callable[[], float] = time.monotonic) -> None:
        self._bus, self._clock = bus, clock
        self._running = RunningGames()
        self.steps: FIFOCache[int, list[str]] = FIFOCache(MAX_CHECKS)
        """The steps of the check of each version: `loa: handshake: ok`."""
        self.workers: CoordinatorWorkers | None = None
        """The last report of the workers."""
        self.workers_at = 0.0
        """When that report arrived (Unix time)."""
        self._revision = 0
        """Number of events so far (see `news_mark`)."""
        self._listeners: defaultdict[Subject, set[asyncio.Event]] = defaultdict(set)
        self._watched: TTLCache[str, float] = TTLCache(MAX_GAMES, WATCH_S, clock)
        """When the plies of a game were requested last."""

    @property
    def games(self) -> Mapping[str, RunningGame]:
        """The running games, by id."""
        return self._running.games

    def of(self, line: Planned) -> RunningGame | None:
        """Return the running game that corresponds to a game from the database, and watch it.

        Returns None if the game is not running, or if events were lost and the database has a later attempt. The plies
        of a game that another process plays, and that was not watched here, follow soon: its listeners are notified.
        """
        if line.state in _OPEN:
            self.watch(line.id)
        game = self.games.get(line.id)
        return None if game is None or line.state == "planned" or game.attempt < line.attempt else game

    def watch(self, name: str) -> None:
        """Request the plies of a game from the process that plays it, unless they were requested a moment ago."""
        now, before = self._clock(), self._watched.get(name)
        if before is None or now - before >= RENEW_S:
            self._watched[name] = now
            self._bus.publish(GameWatched(game=name, is_new=before is None))

    def mark(self, name: str) -> tuple[int, int]:
        """Return the attempt and the number of plies of a running game, by which cached views of it are validated."""
        game = self.games.get(name)
        if game:
            self.watch(name)  # a cached view is read without `of`
        return (game.attempt, len(game.plies)) if game else (0, 0)

    @property
    def news_mark(self) -> tuple[int, int]:
        """The number of events and of watched games, by which cached views of several running games are validated.

        Plies of a game stop coming once the last request for them has expired: then the view must be made again.
        """
        return self._revision, len(self._watched)

    async def run(self) -> None:
        """Listen until cancelled. If dropped for being slow, start again; gaps are filled from the database."""
        while True:
            async with self._bus.subscribe(*_KINDS, size=MAX_QUEUED) as events:
                self._bus.publish(SnapshotRequest())
                async for event in events:
                    self.take(event)
            # Plies may be missing now: streams read a game with missing plies from its record.
            self._running = RunningGames()
            self._watched.clear()
            self._revision += 1
            self._notify_all()

    def take(self, event: Event) -> None:
        """Apply an event, and notify the listeners of its subjects."""
        if isinstance(event, CoordinatorWorkers):
            self.workers, self.workers_at = event, time.time()
            return
        self._revision += 1
        match event:
            case GameStarted() | GameMoved() | GamePlies() | GameSnapshot() | GameEnded() | GameAborted():
                self._running.take(event)
            case VersionStep():
                self._take_step(event)
            case VersionChanged():
                self.steps.pop(event.version, None)
            case BrokerConnected():
                self._running = RunningGames()  # ends may have been missed; watched games are sent again whole
                self._watched.clear()
                self._bus.publish(SnapshotRequest())
                self._notify_all()
        if self._listeners:
            for subject in event.subjects:
                self._notify(subject)

    def _take_step(self, event: VersionStep) -> None:
        steps = self.steps.setdefault(event.version, [])
        if len(steps) < MAX_STEPS:
            steps.append(event.line[:MAX_TEXT])

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
