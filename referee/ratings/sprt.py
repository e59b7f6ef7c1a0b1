"""The sequential probability ratio test over pairs of games with swapped sides (pentanomial results).

The log-likelihood ratio (LLR) is that of the normal approximation of the generalised SPRT:
N (s1 - s0) (2 m - s0 - s1) / (2 v), with m, v the mean and variance of the score per game over N pairs
(M. Van den Bergh, "A practical introduction to the GSPRT"). The bounds are Wald's.

Elo has one of two models. Logistic Elo is a score: 1 / (1 + 10^(-Elo/400)). Normalised Elo is a score in units of the
standard deviation of a game, sqrt(2 v): Elo = (score - 1/2) / sqrt(2 v) * 800 / ln 10. A test in normalised Elo takes
about as many games whatever the share of draws and the balance of the openings; fishtest and fastchess offer both. The
models agree on small differences of bots without draws, in independent games.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

MIN_ESTIMATE_PAIRS = 8
"""Pairs after which the number of games left is estimated."""
Model: TypeAlias = Literal["logistic", "normalised"]
"""What one Elo is."""
SprtState: TypeAlias = Literal["H0", "H1", "continue"]


@dataclass(frozen=True, slots=True)
class Sprt:
    """The hypotheses in Elo of the `model`, with type I error `alpha` and type II error `beta`."""

    elo0: float = 0.0
    elo1: float = 10.0
    alpha: float = 0.05
    beta: float = 0.05
    model: Model = "logistic"

    def scores(self, variance: float) -> tuple[float, float]:
        """Return the points per game of both hypotheses. `variance` is that of the points per game of a pair."""
        if self.model == "logistic":
            return _score(self.elo0), _score(self.elo1)
        unit = math.sqrt(2 * variance) * math.log(10) / 800
        return 0.5 + self.elo0 * unit, 0.5 + self.elo1 * unit


@dataclass(frozen=True, slots=True)
class SprtVerdict:
    """State of a test. `state` is `H1` (elo1 is accepted), `H0` (elo0 is accepted) or `continue`."""

    state: SprtState
    llr: float
    lower: float
    upper: float
    pairs: int
    pentanomial: tuple[int, int, int, int, int]
    """Pairs in which the first-named bot scored 0, ½, 1, 1½ and 2 points."""

    def as_json(self) -> dict[str, Any]:
        return {
            "state": self.state,
            "llr": round(self.llr, 4) + 0.0,  # never -0.0
            "lower": round(self.lower, 4),
            "upper": round(self.upper, 4),
            "pairs": self.pairs,
            "pentanomial": list(self.pentanomial),
        }


def _score(elo: float) -> float:
    return 1 / (1 + 10 ** (-elo / 400))


def evaluate_points(test: Sprt, points: Iterable[float]) -> SprtVerdict:
    """Evaluate the test on the first-named bot's points in each pair; the first decision is final.

    The pairs are in the order in which they began: in that of their ends, quick results would count first, which biases
    the test (see `referee.tournament.formats.sprt`).
    """
    return history(test, points)[0]


def history(test: Sprt, points: Iterable[float]) -> tuple[SprtVerdict, list[float]]:
    """Return the state of the test after all pairs, or its first decision, and the log-likelihood ratio on the way
    there: before the first pair and after each.
    """
    lower, upper = math.log(test.beta / (1 - test.alpha)), math.log((1 - test.beta) / test.alpha)
    counts, ratios = [0] * 5, [0.0]
    for pairs, pair in enumerate(points, 1):
        counts[round(2 * pair)] += 1
        mean, variance = _moments(counts)
        ratios.append(pairs * _drift(test, mean, variance))
        if not lower < ratios[-1] < upper:
            break
    llr = ratios[-1]
    state: SprtState = "H1" if llr >= upper else "H0" if llr <= lower else "continue"
    five = (counts[0], counts[1], counts[2], counts[3], counts[4])
    return SprtVerdict(state, llr, lower, upper, sum(counts), five), ratios


def games_left(test: Sprt, verdict: SprtVerdict) -> int | None:
    """Estimate the games until the decision if the bots continue as before; None: it is decided, or pairs are too few.

    The ratio is taken for a random walk with the drift and the variance of the pairs so far (Wald's expected sample
    size, from the present ratio on).
    """
    if verdict.state != "continue" or verdict.pairs < MIN_ESTIMATE_PAIRS:
        return None
    mean, variance = _moments(verdict.pentanomial)
    s0, s1 = test.scores(variance)
    drift = _drift(test, mean, variance)
    spread = (s1 - s0) ** 2 / variance
    down, up = verdict.llr - verdict.lower, verdict.upper - verdict.llr
    slope = 2 * drift / spread
    if abs(slope) * (down + up) < 1e-6:
        return round(2 * up * down / spread)
    # the probability of reaching the upper bound first; expm1 of negative numbers cannot overflow
    if slope > 0:
        up_probability = math.expm1(-slope * down) / math.expm1(-slope * (down + up))
    else:
        up_probability = 1 - math.expm1(slope * up) / math.expm1(slope * (down + up))
    return round(2 * (up_probability * up - (1 - up_probability) * down) / drift)


def _drift(test: Sprt, mean: float, variance: float) -> float:
    """Return the log-likelihood ratio that a pair adds on average, in the normal approximation."""
    s0, s1 = test.scores(variance)
    return (s1 - s0) * (2 * mean - s0 - s1) / (2 * variance)


def _moments(counts: Sequence[int]) -> tuple[float, float]:
    """Return mean and variance of the points per game of a pair.

    A prior of a quarter pair per result is added: without it, the zero variance after the first pair would decide the
    test.
    """
    lost, half, even, more, won = (count + 0.25 for count in counts)
    total = lost + half + even + more + won
    mean = (half + 2 * even + 3 * more + 4 * won) / (4 * total)
    squares = (half + 4 * even + 9 * more + 16 * won) / (16 * total)
    return mean, squares - mean * mean
