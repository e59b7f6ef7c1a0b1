"""A stage for the coordinator: an arena with bots, and an executor with random results."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from arena import tournaments
from arena.cluster.spool import Spool
from arena.config import Settings
from arena.coordinator.assembly import Collaborators, assemble
from arena.coordinator.coordinator import Coordinator
from arena.coordinator.leadership import LEASE
from arena.coordinator.maintenance import Maintenance
from arena.documents.game import GameQuery
from arena.events.bus import Bus
from arena.store import Store
from arena.store.base.tables.tournaments import Tournament
from arena.tournaments.stored_tournament import seats_by_version
from referee.bot.file import BotFile
from referee.game.record import GameRecord
from referee.game.spec import PlannedGame
from referee.rules.core import Termination
from referee.tournament.match import TournamentGame
from tests.arena.field import record_of

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
TIMEOUT_S = 100
on_sqlite = pytest.mark.parametrize("store", ["sqlite"], indirect=True)
"""For what is decided in Python: its statements are those of tests that run on PostgreSQL too."""


class Dice(Executor):
    """An executor that finishes jobs at once, or on `release` when `is_held`. `reply` makes the record of a game.

    Like slots, it leaves results and void attempts in the spool of the job.
    """

    def __init__(self, reply: Callable[[PlannedGame], GameRecord] = record_of, *, is_held: bool = False) -> None:
        self.size = 2
        self.reply, self.is_held = reply, is_held
        self.held: list[tuple[Future[Any], Sequence[PlannedGame]]] = []
        self.played: list[str] = []
        self.called_off: list[Future[Any]] = []
        self.spool = Path()
        self.worker = ""
        """The id of the cluster worker, if any."""
        self._arrival = threading.Condition()

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.worker = self.worker  # type: ignore[attr-defined]
        self.spool = args[3]
        with self._arrival:
            self.held.append((future, args[0]))
            self._arrival.notify_all()
        if not self.is_held:
            self.release()
        return future

    async def jobs(self, count: int = 1) -> None:
        """Wait until so many jobs are held."""

        def wait() -> bool:
            with self._arrival:
                return self._arrival.wait_for(lambda: len(self.held) >= count, TIMEOUT_S)

        # An event loop that asks again and again holds the interpreter's lock, and the coordinator's thread waits for
        # it after each statement.
        assert await asyncio.to_thread(wait)

    def begin(self) -> None:
        """Mark every job as running: from now on it can only be cancelled as a whole."""
        for future, _ in self.held:
            if not future.done() and not future.running():
                future.set_running_or_notify_cancel()

    def release(self, count: int = 10**9) -> None:
        """Finish the waiting jobs."""
        for _ in range(count):
            try:  # one by one: a coordinator may submit and release concurrently in its own thread
                future, games = self.held.pop(0)
            except IndexError:
                return
            if future.running() or future.set_running_or_notify_cancel():
                try:
                    records = [self.reply(game) for game in games]
                except Exception as error:
                    future.set_exception(error)
                    continue
                self.played += [record.id for record in records]
                for game, record in zip(games, records, strict=True):
                    self.leave(record, game, future)
                future.set_result(None)

    def leave(self, record: GameRecord, game: PlannedGame, future: Future[Any]) -> None:
        """Leave the record of a game in the spool."""
        Spool(self.spool).write(replace(record, worker=getattr(future, "worker", "")), game.attempt)

    def call_off(self, future: Future[Any]) -> None:
        """Cancel a job like a slot: the running game ends void, later ones do not start."""
        self.called_off.append(future)
        for job in list(self.held):
            held, games = job
            if held is future and not future.cancel():
                self.held.remove(job)
                self.leave(void_of(games[0], Termination.STOPPED), games[0], future)
                future.set_result(None)
                return


def void_of(game: PlannedGame, termination: Termination = Termination.WORKER_LOST) -> GameRecord:
    """Return a void attempt at a game."""
    return replace(record_of(game, termination=termination), moves=(), plies=())


class Stage:
    """A store with a user and bots, coordinators over it, and a clock that tests move."""

    def __init__(self, store: Store, folder: Path, bots: Sequence[str] = ("ada", "bob", "cleo", "dan")) -> None:
        self.store = store
        user = store.users.add("zoe", role="organiser")
        assert user.id is not None
        self.user_id = user.id
        self.settings = Settings(data=folder, sandbox="none")
        self.bus = Bus()
        self.now = NOW
        self._bots: dict[str, int] = {}
        self.ids = {name: self.bot(name) for name in bots}

    def bot(
        self,
        name: str,
        families: Sequence[str] = ("loa",),
        capabilities: dict[str, Any] | None = None,
        command: Sequence[str] = ("./bot",),
        **version: Any,
    ) -> int:
        """Create a new active version of a bot and return its number; `capabilities` are as if it had been checked."""
        if capabilities is not None:
            version["state"] = "checking"
        if name not in self._bots:
            self._bots[name] = self.store.bots.add(name, self.user_id).id or 0
        made = self.store.versions.add(
            self._bots[name],
            **{
                "file": BotFile(tuple(command), families=tuple(families)),
                "state": "active",
                "variants": {family: [] for family in families},
                **version,
            },
        )
        assert made.id is not None
        if capabilities is not None:
            self.store.checks.conclude(made.id, report={}, variants={}, capabilities=capabilities)
        return made.id

    def create(self, **document: Any) -> int:
        """Create a tournament of all bots in Lines of Action, by default without openings; return its number."""
        settings = {"name": "cup", "family": "loa", "openings": "none", "entries": {"all": True}, **document}
        found = tournaments.create(self.store, settings, self.user_id, self.now)
        assert found.id is not None
        return found.id

    def tournament(self, number: int) -> Tournament:
        """Return the present state of a tournament."""
        return self.store.tournaments.get(number)

    def coordinator(self, executor: Executor, **options: Any) -> Coordinator:
        """Return a coordinator that has acquired the lease and taken over the games; drive it with `turn`."""
        found = self.apart(executor, **options)
        assert self.store.leases.take(LEASE, found.leadership.name, 3600, seen=self.store.leases.get(LEASE))
        found.take_over()
        return found

    def apart(self, executor: Executor, **options: Any) -> Coordinator:
        """Return a coordinator that has done nothing yet. Daily tasks run only if `maintenance` is given."""
        options.setdefault("maintenance", Maintenance(self.store, []))
        given = Collaborators(clock=lambda: self.now, **options)
        return assemble(self.settings, self.store, self.bus, executor, given)

    def play(self, number: int, executor: Dice | None = None, turns: int = 500, turn: timedelta = timedelta(0)) -> Dice:
        """Drive a coordinator until a tournament is over. A turn takes no time by default."""
        dice = executor or Dice()
        coordinator = self.coordinator(dice)
        for _ in range(turns):
            coordinator.turn()
            self.now += turn
            if self.tournament(number).state in ("finished", "cancelled"):
                return dice
        raise AssertionError(f"still {self.tournament(number).state}: {self.store.games.counts(number)}")

    def seats(self, number: int) -> dict[int, int]:
        """Return the seats of all entries of a tournament by version id."""
        return seats_by_version(self.store.tournaments.entries(number))

    def games(self, number: int) -> list[TournamentGame]:
        """Return all games of a tournament."""
        return self.store.queue.games(number, self.seats(number))

    def check_exactly_once(self, number: int, games: int | None = None) -> None:
        """Check that every game has one result, commit numbers have no gap, and ratings follow from the games."""
        outline = self.games(number)
        assert {game.state for game in outline} == {"done"}
        committed = [game.order for game in outline]
        assert len(set(committed)) == len(outline)
        records = list(self.store.results.records(GameQuery(tournament=number)))
        assert sorted(commit for commit, _ in records) == sorted(committed)
        tournament = self.tournament(number)
        assert tournament.planned_games == tournament.finished_games == len(outline)
        assert games is None or len(outline) == games
        everything = [commit for commit, _ in self.store.results.records()]
        assert everything == list(range(1, len(everything) + 1))
        assert self.store.ratings.check() == []
