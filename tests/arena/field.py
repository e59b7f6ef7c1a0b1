"""A little arena to test with: a user, four active bots, tournaments, and games played by throwing dice."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime

from arena.coordinator.archivist import ArchiveImporter
from arena.store import Store
from arena.store.base.tables.bots import Version
from arena.store.base.tables.tournaments import Tournament
from arena.store.bots.versions import bot_spec
from referee.bot.file import BotFile
from referee.game.record import GameRecord, Ply
from referee.game.spec import GameSpec, PlannedGame, TimeControl
from referee.rules.core import Kind, Termination

NAMES = ("ada", "bob", "cleo", "dan")
START = datetime(2026, 1, 1, tzinfo=UTC)


class Field:
    """Makes users, bots, tournaments, plans and records."""

    def __init__(self, store: Store, names: Sequence[str] = NAMES) -> None:
        self.store = store
        user = store.users.add("zoe", role="organiser")
        assert user.id is not None
        self.user_id = user.id
        self.versions = [self.version(name) for name in names]
        self.tournament = self.add_tournament()
        assert self.tournament.id is not None
        self.tournament_id = self.tournament.id

    def version(self, name: str, family: str = "loa") -> Version:
        """A new active version of a bot, made if need be."""
        known = [line for line in self.store.bots.page(limit=500).items if line.name == name]
        bot_id = known[0].id if known else self.store.bots.add(name, self.user_id).id
        assert bot_id is not None
        return self.store.versions.add(
            bot_id, BotFile(("./bot",), families=(family,)), state="active", variants={family: ["standard"]}
        )

    def add_tournament(self, family: str = "loa", *, is_rated: bool = True, start_time: datetime = START) -> Tournament:
        """A running tournament of all versions."""
        tournament = self.store.tournaments.add(
            Tournament(
                name="cup",
                family=family,
                variant="standard",
                format="round-robin",
                pool=family,
                is_rated=is_rated,
                start_time=start_time,
                created_by=self.user_id,
            ),
            [(version.id or 0, "fit") for version in self.versions],
        )
        assert tournament.id is not None
        return self.store.tournaments.move(tournament.id, "running")

    def games(self, count: int, *, first_sequence: int = 1, seed: int = 0) -> list[PlannedGame]:
        """Games between changing pairs of bots."""
        bots = [bot_spec(version, "loa") for version in self.versions]
        planned = []
        for number in range(first_sequence, first_sequence + count):
            first = number % len(bots)
            second = (first + 1 + number // len(bots) % (len(bots) - 1)) % len(bots)
            spec = GameSpec(
                family="loa",
                variant="standard",
                first=bots[first],
                second=bots[second],
                time=TimeControl("nodes", 0, 0, 10),
                sequence=number,
                round=1,
                pair=(number + 1) // 2,
                seed=seed,
            )
            planned.append(PlannedGame.of(spec))
        return planned

    def plan(self, count: int, tournament_id: int | None = None, *, first_sequence: int = 1) -> list[PlannedGame]:
        """Games stored in the tournament."""
        mine = tournament_id or self.tournament_id
        games = self.games(count, first_sequence=first_sequence, seed=mine)
        self.store.queue.plan(mine, games, {version.name: version.id or 0 for version in self.versions})
        return games

    def play(self, count: int, tournament_id: int | None = None, *, first_sequence: int = 1) -> list[GameRecord]:
        """Games planned and committed."""
        records = [record_of(game) for game in self.plan(count, tournament_id, first_sequence=first_sequence)]
        for record in records:
            assert self.store.results.commit(record) is not None
        return records


def record_of(game: PlannedGame, *, winner: str | None = None, termination: Termination | None = None) -> GameRecord:
    """A record of that game: thrown by dice that its id seeds, or as given."""
    spec, dice = game.spec, random.Random(game.id)
    chosen = winner or dice.choice(["first", "first", "second", "draw"])
    how = termination or (Termination.REPETITION if chosen == "draw" else Termination("connection"))
    if termination is None and chosen != "draw" and dice.random() < 0.1:
        how = Termination.TIME
    return GameRecord(
        id=game.id,
        family=spec.family,
        variant=spec.variant,
        options=spec.options,
        position="",
        first=spec.first.name,
        second=spec.second.name,
        winner=None if how.kind is Kind.VOID else chosen,  # type: ignore[arg-type]
        termination=how,
        kind=how.kind,
        moves=("b1b3", "a2c2"),
        plies=(Ply(1.0), Ply(2.0)),
        started="2026-01-01T00:00:00+00:00",
        finished="2026-01-01T00:01:00+00:00",
        sequence=spec.sequence,
        round=spec.round,
        pair=spec.pair,
    )


def void_of(game: PlannedGame) -> GameRecord:
    """An attempt that came to nothing."""
    return replace(record_of(game, termination=Termination.WORKER_LOST), moves=(), plies=())


def read_imports(store: Store) -> None:
    """Read the imports that wait, as the coordinator does."""
    ArchiveImporter(store).work(threading.Event())


@contextmanager
def reading_imports(store: Store) -> Iterator[None]:
    """Read imports as they come, in a thread."""
    stop = threading.Event()

    def work() -> None:
        importer = ArchiveImporter(store)
        while not stop.wait(0.05):
            importer.work(stop)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
