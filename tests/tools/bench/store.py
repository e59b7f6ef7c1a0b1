"""The database at work: one game's result written, and all ratings folded again."""

from __future__ import annotations

import gc
import json
import shutil
import sqlite3
import statistics
import tempfile
import time
import tracemalloc
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from contextlib import closing
from dataclasses import replace
from functools import cache
from math import ceil, comb
from pathlib import Path
from typing import Any

from arena import tournaments
from arena.clock import now
from arena.cluster.spool import Spool
from arena.config import Settings
from arena.coordinator.assembly import Collaborators, assemble
from arena.coordinator.leadership import LEASE
from arena.coordinator.maintenance import Maintenance
from arena.events.bus import Bus
from arena.store import Store
from arena.store.games.commit import pack, unpack_line
from referee.bot.file import BotFile
from referee.game.record import GameRecord
from referee.game.spec import Adjudication, BotSpec, GameSpec, PlannedGame, spec_from_json
from referee.rules import families
from referee.verify.verification import RecordVerifier, problem_of
from tests.tools.bench.figure import Figure
from tests.tools.bench.league import ENTRIES, PLIES, open_league, short_game

RAW = "raw sqlite3 insert and commit"


def run(quick: bool) -> Iterator[Figure]:
    """Figures of the store."""
    yield from _writes(100 if quick else 1000)
    yield from _recorded(400 if quick else 1000)
    yield from _verified(40 if quick else 400)
    yield from _rebuild(10_000 if quick else 100_000)
    if not quick:
        yield Figure("store", "memory of such a rebuild of 10,000 games", _memory(), "MB")


def _writes(count: int) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as name:
        store = Store.in_folder(Path(name))
        try:
            games = planned(store, count)
            records = [record_of(game) for game in games]
            raw = Path(name) / "raw.sqlite3"
            with closing(sqlite3.connect(raw, isolation_level=None)) as base:
                base.execute("PRAGMA journal_mode=WAL")
                base.execute("PRAGMA synchronous=NORMAL")
                base.execute("CREATE TABLE records (id TEXT PRIMARY KEY, data BLOB)")
                commits, whole, bare = [], [], []
                for record in records:  # in turn, so that noise falls on both alike
                    data = pack(record)
                    begin = time.perf_counter()
                    base.execute("BEGIN IMMEDIATE")
                    base.execute("INSERT INTO records VALUES (?, ?)", (record.id, data))
                    base.execute("COMMIT")
                    bare.append(1000 * (time.perf_counter() - begin))
                    begin = time.perf_counter()
                    store.queue.hand_out([record.id], "bench")
                    store.queue.start(record.id)
                    middle = time.perf_counter()
                    store.results.commit(record, "bench")
                    end = time.perf_counter()
                    commits.append(1000 * (end - middle))
                    whole.append(1000 * (end - begin))
        finally:
            store.close()
    base_ms = statistics.median(bare)
    yield Figure("store", "result of a game committed, median", statistics.median(commits), "ms", RAW, base_ms, "< 5")
    yield Figure(
        "store", "handed out, started and committed, median", statistics.median(whole), "ms", RAW, base_ms, "< 5"
    )


class Hands(Executor):
    """Slots that have played their jobs as soon as they are told to."""

    size = 32

    def __init__(self) -> None:
        self.jobs: list[tuple[Future[Any], list[PlannedGame]]] = []

    def submit(self, fn: Any, /, *args: Any, **_: Any) -> Future[Any]:
        """Take a job: its first argument is its games."""
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        self.jobs.append((future, args[0]))
        self.spool = Spool(args[3])
        return future

    def play(self) -> int:
        """Leave the results of what was taken in the spool; how many."""
        jobs, self.jobs = self.jobs, []
        for future, games in jobs:
            for game in games:
                self.spool.write(record_of(game))
            future.set_result(None)
        return sum(len(games) for _, games in jobs)


def _recorded(count: int) -> Iterator[Figure]:
    """Turns of a coordinator whose 32 slots play in no time: it hands out, keeps in the spool, records and tells."""
    with tempfile.TemporaryDirectory() as name:
        store, hands = Store.in_folder(Path(name)), Hands()
        try:
            planned(store, count)
            settings, idle = Settings.model_validate({"data": Path(name)}), Maintenance(store, [])
            given = Collaborators(check=lambda _: None, maintenance=idle)
            coordinator = assemble(settings, store, Bus(), hands, given)
            assert store.leases.take(LEASE, coordinator.leadership.name, 600)
            coordinator.take_over()
            coordinator.turn()
            done = hands.play()
            coordinator.turn()  # all is loaded
            before, begin = done, time.process_time()
            while done < count:
                coordinator.turn()
                done += hands.play()
            coordinator.turn()
            seconds = time.process_time() - begin
            assert store.results.last_commit() == count
        finally:
            store.close()
    rate = (count - before) / seconds
    yield Figure("store", "results recorded by a coordinator", rate, "games/s CPU", goal=">= 500")
    for slots in (32, 128):
        seconds = slots / rate
        yield Figure("store", f"{slots} slots keep it busy where their games are shorter than", seconds, "s")


def planned(store: Store, count: int) -> list[PlannedGame]:
    """A tournament of so many games: of two bots, or of as many as it takes when no pairing has over 1,000."""
    by = store.users.add("owner", "organiser").id or 0
    names: tuple[str, ...] = ("one", "two", "three", "four", "five")
    while 1000 * comb(len(names) - 1, 2) >= count and len(names) > 2:
        names = names[:-1]
    games = ceil(count / comb(len(names), 2))
    for name in names:
        bot = store.bots.add(name, by)
        store.versions.add(
            bot.id or 0, BotFile(("./bot",), families=("loa",)), state="active", variants={"loa": ["standard"]}
        )
    document = {"name": "Bench", "family": "loa", "games": games, "entries": {"bots": [*names]}}
    row = tournaments.create(store, document, by, now())
    tournaments.plan(store, row.id or 0)
    tournaments.advance(store, row.id or 0, ahead=count)  # otherwise a window of them is stored
    return [waiting.game for waiting in store.queue.waiting(row.id or 0, count)]


@cache
def _played(family: str) -> GameRecord:
    """A game as a slot brings it."""
    return short_game(family)


def record_of(game: PlannedGame) -> GameRecord:
    """A game as a slot brings it."""
    spec = game.spec
    record = _played(spec.family)
    return replace(record, id=game.id, first=spec.first.name, second=spec.second.name, sequence=spec.sequence)


def _verified(rounds: int) -> Iterator[Figure]:
    """Stored games of sixty plies judged again, of all families in turn; the long way is the baseline."""
    stored = []
    for family in families():
        record = replace(short_game(family), adjudication={"max_plies": PLIES})
        first, second = (BotSpec(name, ("./bot",)) for name in (record.first, record.second))
        spec = GameSpec(family, record.variant, first, second, adjudication=Adjudication(max_plies=PLIES))
        stored.append((pack(record), json.loads(json.dumps(spec.as_json()))))
    rates = []
    for judge in (problem_of, RecordVerifier().problem_of):
        for warm in (True, False):
            begin = time.process_time()
            for _ in range(1 if warm else rounds):
                for data, plan in stored:
                    assert not judge(unpack_line(data), spec_from_json(plan))
        rates.append(rounds * len(stored) / (time.process_time() - begin))
    yield Figure("store", "games verified (CPU)", rates[1], "games/s", "position by position", rates[0], ">= 5000")


def _rebuild(count: int) -> Iterator[Figure]:
    """Ratings that are all wrong, so that every one of them is written again; the pure fold is the baseline."""
    from arena.store.ratings import fold

    league = open_league(max(1, count // ENTRIES**2))
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "league.sqlite3"
        shutil.copy(league.path, path)
        with closing(sqlite3.connect(path)) as base:
            names = ", ".join("id" if name == "game_id" else name for name in fold.FoldedGame._fields)
            query = f"SELECT {names} FROM games WHERE commit_number IS NOT NULL ORDER BY commit_number"
            games = [fold.FoldedGame(*row) for row in base.execute(query)]
        count = len(games)
        store = Store(f"sqlite:///{path}")
        try:
            assert store.ratings.rebuild() == count  # what it needs is loaded: once, however many games there are
            gc.freeze()  # as the command does
            begin = time.process_time()
            assert store.ratings.rebuild() == count
            again = time.process_time() - begin
            with closing(sqlite3.connect(path)) as base:
                base.execute("UPDATE rating_changes SET mu = mu + 1")
                base.commit()
            begin = time.process_time()
            assert store.ratings.rebuild() == count
            whole = time.process_time() - begin
        finally:
            store.close()
    lines: dict[tuple[str, int], fold.FoldedRating] = {}

    class Table:
        def line(self, pool: str, version_id: int) -> fold.FoldedRating | None:
            return lines.get((pool, version_id))

        def follows(self, version_id: int) -> int | None:
            return None

        def put(self, pool: str, version_id: int, line: fold.FoldedRating) -> None:
            lines[pool, version_id] = line

    begin = time.process_time()
    for game in games:
        fold.fold(Table(), game)
    pure = time.process_time() - begin
    scale = 1_000_000 / count
    base_name = "the fold alone"
    yield Figure(
        "store",
        "ratings of 1,000,000 games rebuilt, all wrong (CPU)",
        whole * scale,
        "s",
        base_name,
        pure * scale,
        "<= 60",
    )
    yield Figure("store", "and folded again, all right (CPU)", again * scale, "s", base_name, pure * scale, "<= 60")


def _memory() -> float:
    """The peak of a rebuild of everything, in megabytes; measured by itself, as measuring slows it down."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "league.sqlite3"
        shutil.copy(open_league(1).path, path)
        store = Store(f"sqlite:///{path}")
        tracemalloc.start()
        try:
            store.ratings.rebuild()
            return tracemalloc.get_traced_memory()[1] / 2**20
        finally:
            tracemalloc.stop()
            store.close()
