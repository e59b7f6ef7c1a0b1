"""Schedules, standings and ratings at league size."""

from __future__ import annotations

import random
import time
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from referee.game.openings import Opening
from referee.game.record import GameRecord
from referee.game.spec import BotSpec, PlannedGame
from referee.ratings.bradley_terry import fit
from referee.ratings.trueskill import fold
from referee.rules import load
from referee.rules.core import Kind, Termination
from referee.tournament.crosstable import rows
from referee.tournament.document import read
from referee.tournament.formats.round_robin import FORMAT
from referee.tournament.ledger import planned_games
from referee.tournament.match import Seed
from tests.referee.tournament.rehearsal import table_of
from tests.tools.bench.figure import Figure, best_seconds

BASE = GameRecord(
    id="",
    family="loa",
    variant="standard",
    options={},
    position="",
    first="",
    second="",
    winner="first",
    termination=Termination("connection"),
    kind=Kind.RULES,
    moves=(),
    plies=(),
    started="",
    finished="",
)


def records(bots: int, games: int) -> list[GameRecord]:
    """Random results between random bots."""
    rng = random.Random(1)
    results = []
    for number in range(games):
        first, second = rng.sample(range(bots), 2)
        winner = rng.choice(("first", "second", "draw"))
        results.append(replace(BASE, first=f"bot{first}", second=f"bot{second}", winner=winner, sequence=number))  # type: ignore[arg-type]
    return results


def run(quick: bool) -> Iterator[Figure]:
    """Figures of the pure tables."""
    count = 10_000 if quick else 100_000
    games = records(300, count)
    begin = time.perf_counter()
    fold(games, load("loa").draw_probability)
    seconds = (time.perf_counter() - begin) * 100_000 / count
    yield Figure("tables", "TrueSkill fold of 100,000 games", seconds, "s")
    yield from _strengths()
    games = records(100, 10_000)
    names = [f"bot{number}" for number in range(100)]
    begin = time.perf_counter()
    tracemalloc.start()
    rows(games, table_of(games, names).lines)
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    yield Figure("tables", "memory of a crosstable of 100 bots, 10,000 games", peak, "MB")
    begin = time.perf_counter()
    rows(games, table_of(games, names).lines)
    yield Figure("tables", "crosstable of 100 bots, 10,000 games", time.perf_counter() - begin, "s", goal="< 1")
    bots = tuple(BotSpec(f"bot{number}", ("./bot",)) for number in range(500))
    names = [bot.name for bot in bots]
    document = read({"name": "bench", "family": "loa", "games": 1, "entries": {"bots": names}})

    matches = tuple(FORMAT.plan(document.games, [Seed(seat) for seat in range(len(bots))]))

    def schedule() -> list[PlannedGame]:
        return planned_games(document, "", (Opening("standard"),), dict(enumerate(bots)), matches, sequence=0, pair=0)

    seconds = best_seconds(schedule, 3)
    yield Figure("tables", "round robin of 500 bots, 124,750 games", seconds, "s", goal="< 1")
    if not quick:
        tracemalloc.start()
        assert len(schedule()) == 124_750
        peak = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
        yield Figure("tables", "memory of that schedule", peak, "MB")


def _strengths() -> Iterator[Figure]:
    """Bradley-Terry with draws over a million results; the bare counting of them in C is the baseline."""
    rng = random.Random(1)
    names = [f"bot{number}" for number in range(300)]
    pairs = [rng.sample(names, 2) for _ in range(50_000)]
    results = [(first, second, points) for points in (1.0, 0.5, 0.0, 1.0) for first, second in pairs] * 5
    begin = time.process_time()
    Counter(results)
    counting = time.process_time() - begin
    seconds = []
    for _ in range(3):
        begin = time.process_time()
        fit(results)
        seconds.append(time.process_time() - begin)
    tracemalloc.start()
    fit(results)
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    name = "Bradley-Terry with draws, 1,000,000 games, 300 bots (CPU)"
    yield Figure("tables", name, min(seconds), "s", "counting the results", counting, "< 1")
    yield Figure("tables", "memory of that fit", peak, "MB")
