"""How soon a throttled worker is noticed, and how often an honest one is: `python -m tests.tools.bench.throttle`.

A table of simulated arenas: workers that play games in turn, bots drawn for each, one worker slower than the others by
some factor. How often that one is quarantined, after how many of its games, and how often any other one is.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from arena.coordinator.auditor import SlowWorkerDetector
from tests.tools.bench.figure import Figure

TOLERANCE = 0.25
"""As set when nobody says otherwise."""
WITHIN = 200
"""Games in which a throttled worker is to be noticed."""
LONG = 2000
"""Games that an honest one has to survive."""


@dataclass(frozen=True, slots=True)
class Field:
    """An arena: its workers, its bots, and how far (a standard deviation of the logarithm) speeds of games scatter.

    Half of what scatters is the same for both bots of a game, as what else goes on at that moment.
    """

    workers: int
    bots: int
    scatter: float


FIELDS = (Field(2, 8, 0.1), Field(2, 8, 0.3), Field(2, 40, 0.2), Field(8, 8, 0.1), Field(8, 40, 0.3))
SPEEDS = (1.0, 0.8, 0.75, 0.6, 0.5)


def simulate(field: Field, speed: float, games: int, seed: int, tolerance: float = TOLERANCE) -> dict[int, int]:
    """The workers that are quarantined (0 is the slow one), and after how many of their games. Each plays `games`."""
    rng = random.Random(f"{field} {speed} {seed}")
    watch, workers = SlowWorkerDetector(tolerance), [str(number) for number in range(field.workers)]
    own = [rng.gauss(6, 2) for _ in range(field.bots)]
    shared, apart = field.scatter * math.sqrt(0.5), field.scatter * math.sqrt(0.5)
    quarantined: dict[int, int] = {}
    for game in range(1, games + 1):
        for number, worker in enumerate(workers):
            if number in quarantined:
                continue
            here = rng.gauss(0, shared) + (math.log(speed) if number == 0 else 0)
            speeds = [(bot, own[bot] + here + rng.gauss(0, apart)) for bot in rng.sample(range(field.bots), 2)]
            if watch.add(worker, speeds, [other for at, other in enumerate(workers) if at not in quarantined]):
                quarantined[number] = game
    return quarantined


def lines(runs: int) -> Iterator[tuple[Field, float, float, float, float, int]]:
    """Of each field and speed: the share of runs in which the slow one is quarantined, after how many games (median),
    and in which within `WITHIN`; and in how many runs another one is.

    Runs with a worker that is much slower end after `WITHIN` games, the others are `LONG`.
    """
    for field in FIELDS:
        for speed in SPEEDS:
            games = LONG if speed >= 1 - TOLERANCE else WITHIN
            runs_out = [simulate(field, speed, games, seed) for seed in range(runs)]
            after = [quarantined[0] for quarantined in runs_out if 0 in quarantined]
            soon = sum(games <= WITHIN for games in after)
            wrong = sum(any(quarantined) for quarantined in runs_out)
            yield field, speed, len(after) / runs, median(after) if after else math.nan, soon / runs, wrong


def run(quick: bool) -> Iterator[Figure]:
    """The same as figures, for `make bench`."""
    for field, speed, found, _, soon, wrong in lines(2 if quick else 10):
        name = f"{field.workers} workers, {field.bots} bots, scatter {field.scatter:g}: one at {speed:.0%}"
        goal = "99" if speed <= 0.6 else "0.1 at most" if speed == 1 else ""
        yield Figure("throttle", f"{name}, quarantined", 100 * (soon if speed < 0.75 else found), "%", goal=goal)
        yield Figure("throttle", f"{name}, runs with another quarantined", wrong, "", goal="0")


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.bench.throttle", description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000, metavar="N", help="simulations of each line [1000]")
    arguments = parser.parse_args()
    print(
        f"{'workers':>7} {'bots':>5} {'scatter':>8} {'speed':>6} {'quarantined':>9} {'after':>6} "
        f"{'in 200':>7} {'wrong':>6}"
    )
    for field, speed, detected, after, soon, wrong in lines(arguments.runs):
        print(
            f"{field.workers:>7} {field.bots:>5} {field.scatter:>8g} {speed:>6.0%} {detected:>9.1%} {after:>6.0f} "
            f"{soon:>7.1%} {wrong:>6}",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
