"""Schedules, standings and ratings at league size."""

from __future__ import annotations

import random
import resource
import time
from collections.abc import Iterator
from dataclasses import replace

from referee.core import Kind, Termination
from referee.games import load
from referee.ratings import fold
from referee.record import GameRecord
from referee.schedule import Opening, Plan, schedule
from referee.spec import BotSpec
from referee.standings import crosstable
from tests.bench.figure import Figure

BASE = GameRecord(
    id="",
    family="loa",
    variant="standard",
    options={},
    position="",
    first="",
    second="",
    winner="first",
    termination=Termination.CONNECTION,
    kind=Kind.RULES,
    moves=(),
    plies=(),
    started="",
    finished="",
)


def records(bots: int, games: int) -> list[GameRecord]:
    """Random results between random bots."""
    rng = random.Random(1)
    found = []
    for number in range(games):
        one, two = rng.sample(range(bots), 2)
        winner = rng.choice(("first", "second", "draw"))
        found.append(replace(BASE, first=f"bot{one}", second=f"bot{two}", winner=winner, sequence=number))  # type: ignore[arg-type]
    return found


def run(quick: bool) -> Iterator[Figure]:
    """Figures of the pure tables."""
    count = 10_000 if quick else 100_000
    games = records(300, count)
    begin = time.perf_counter()
    fold(games)
    seconds = (time.perf_counter() - begin) * 100_000 / count
    yield Figure("tables", "TrueSkill fold of 100,000 games", seconds, "s", goal="< 30")
    games = records(100, 10_000)
    names = [f"bot{number}" for number in range(100)]
    begin = time.perf_counter()
    crosstable(games, names)
    yield Figure("tables", "crosstable of 100 bots, 10,000 games", time.perf_counter() - begin, "s", goal="< 1")
    ruleset = load("loa").settle()
    bots = tuple(BotSpec(f"bot{number}", ("./bot",)) for number in range(500))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.perf_counter()
    plan = schedule(Plan(ruleset, bots, (Opening("standard"),), 1))
    seconds = time.perf_counter() - begin
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    yield Figure("tables", f"round robin of 500 bots ({len(plan):,} games)", seconds, "s", goal="< 1")
    yield Figure("tables", "memory of that schedule", grown, "MB")
