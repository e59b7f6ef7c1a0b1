"""How well cycles are found, over simulated tournaments: `python -m tests.tools.bench.ratings`.

A table: how many of the tournaments with a planted cycle are said to have one, how many without, and what games that
were not seen cost in log loss (nats a game) by strengths alone and with the cyclic part, where one was found.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

import numpy as np

from referee.ratings.bradley_terry import StrengthFit, fit
from referee.ratings.cycle import _low_rank, _test_cycles, analyse_cycles
from referee.ratings.meetings import Floats, expectation, meetings
from tests.referee.ratings import simulated
from tests.tools.bench.figure import Figure

PLANTED = ((0.0, "nothing"), (1.0, "a trio, 69 %"), (1.5, "a trio, 77 %"), (2.0, "a trio, 83 %"), (1.0, "styles"))
FIELDS = ((4, 40), (8, 20), (8, 40), (16, 10), (16, 40), (30, 4))
"""Bots, and games of each pairing."""
_SPREAD = 0.6
"""The standard deviation of the bots' strengths in theta: 104 Elo."""


def log_loss(fitted: StrengthFit, results: list[tuple[str, str, float]], cyclic: Floats | None) -> float:
    """Of results, a game, in nats."""
    met = meetings(results, [one.name for one in fitted.strengths])
    chances = expectation(met, fitted, cyclic).chances
    return float(-(met.counts * np.log(np.maximum(chances, 1e-12))).sum() / met.counts.sum())


def held_out(strengths: Floats, matrix: Floats, games: int, seed: int) -> tuple[float, float]:
    """The log loss of games that were not seen, by strengths alone and with the cyclic part where one is found."""
    rng = np.random.default_rng(seed)
    seen = simulated.play(strengths, matrix, games, rng)
    unseen = simulated.play(strengths, matrix, 40, rng)
    fitted = fit(seen, with_advantage=True)
    test = _test_cycles(seen, fitted, seed)
    cyclic = _low_rank(test, fitted) if test.is_cyclic else None
    return log_loss(fitted, unseen, None), log_loss(fitted, unseen, cyclic)


def field(kind: str, edge: float, bots: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Strengths and what is planted; the three of a trio are equally strong."""
    strengths = rng.normal(0, _SPREAD, bots)
    if kind == "nothing":
        return strengths, simulated.nothing(bots)
    if kind == "styles":
        return strengths, simulated.styles(bots, edge, rng)
    strengths[:3] = strengths[:3].mean()
    return strengths, simulated.trio(bots, edge)


def lines(runs: int) -> Iterator[tuple[str, int, int, float, float, float]]:
    """Of each field and kind: what is planted, bots, games, the share found, and both log losses."""
    for edge, kind in PLANTED:
        for bots, games in FIELDS:
            detected, losses = 0, []
            for seed in range(runs):
                rng = np.random.default_rng((seed, bots, games))
                strengths, matrix = field(kind, edge, bots, rng)
                results = simulated.play(strengths, matrix, games, rng)
                findings = analyse_cycles(results, fit(results, with_advantage=True), seed)
                detected += findings is not None and findings.is_cyclic
                if seed < runs / 5:
                    losses.append(held_out(strengths, matrix, games, seed))
            plain, cyclic = np.mean(losses, axis=0)
            yield kind, bots, games, detected / runs, float(plain), float(cyclic)


def run(quick: bool) -> Iterator[Figure]:
    """The same as figures, for `make bench`."""
    for kind, bots, games, found, plain, cyclic in lines(20 if quick else 100):
        name = f"{kind}: {bots} bots, {games} games a pairing"
        yield Figure("ratings", f"{name}, said to be cyclic", 100 * found, "%")
        yield Figure("ratings", f"{name}, log loss", cyclic, "nats", "strengths alone", plain)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.bench.ratings", description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=200, metavar="N", help="tournaments of each line [200]")
    arguments = parser.parse_args()
    print(f"{'planted':<14} {'bots':>5} {'games':>6} {'found':>8} {'plain':>8} {'cyclic':>8} {'gain':>8}")
    for kind, bots, games, detected, plain, cyclic in lines(arguments.runs):
        print(f"{kind:<14} {bots:>5} {games:>6} {detected:>8.1%} {plain:>8.4f} {cyclic:>8.4f} {plain - cyclic:>+8.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
