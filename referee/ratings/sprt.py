"""The sequential probability ratio test over pairs of games with swapped sides (pentanomial results).

The log-likelihood ratio (LLR) is that of the normal approximation of the generalised SPRT:
N (s1 - s0) (2 m - s0 - s1) / (2 v), with m, v the mean and variance of the score per game over N pairs
(M. Van den Bergh, "A practical introduction to the GSPRT"). The bounds are Wald's.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from referee.ratings.scored import ScoredGame
from referee.rules.core import Kind

MAX_ELO = 1000
"""Maximum absolute Elo of a hypothesis."""


@dataclass(frozen=True, slots=True)
class Sprt:
    """The hypotheses in logistic Elo, with type I error `alpha` and type II error `beta`."""

    elo0: float = 0.0
    elo1: float = 10.0
    alpha: float = 0.05
    beta: float = 0.05


@dataclass(frozen=True, slots=True)
class SprtVerdict:
    """State of a test. `state` is `H1` (the bot is stronger), `H0` (it is not stronger) or `continue`."""

    state: Literal["H0", "H1", "continue"]
    llr: float
    lower: float
    upper: float
    pairs: int
    pentanomial: tuple[int, int, int, int, int]
    """Pairs in which the first-named bot scored 0, ½, 1, 1½ and 2 points."""

    def as_json(self) -> dict[str, Any]:
        """Convert to a JSON object."""
        return {
            "state": self.state,
            "llr": round(self.llr, 4) + 0.0,
            "lower": round(self.lower, 4),
            "upper": round(self.upper, 4),
            "pairs": self.pairs,
            "pentanomial": list(self.pentanomial),
        }


def read_sprt(text: str) -> Sprt:
    """Parse `elo0=0,elo1=10,alpha=.05,beta=.05`, each part optional. Raises ValueError with the invalid part."""
    values: dict[str, float] = {}
    for part in text.split(","):
        name, _, value = part.strip().partition("=")
        try:
            if name not in ("elo0", "elo1", "alpha", "beta"):
                raise ValueError(name)
            values[name] = float(value)
        except ValueError:
            raise ValueError(f"invalid part {part!r} of --sprt: expected elo0=0,elo1=10,alpha=.05,beta=.05") from None
    test = Sprt(**values)
    if not (-MAX_ELO <= test.elo0 < test.elo1 <= MAX_ELO and 0 < test.alpha < 0.5 and 0 < test.beta < 0.5):
        raise ValueError(
            f"invalid --sprt: expected elo0 < elo1, from -{MAX_ELO} to {MAX_ELO}, and alpha, beta between 0 and 0.5"
        )
    return test


def _score(elo: float) -> float:
    return 1 / (1 + 10 ** (-elo / 400))


class RunningTest:
    """The test of the bot `name` against its only opponent, updated as games end; the first decision is final.

    A pair counts when both its games have a result; void games are ignored.
    """

    def __init__(self, test: Sprt, name: str, records: Iterable[ScoredGame] = ()) -> None:
        self._test, self._name = test, name
        self._halves: dict[int, float] = {}
        """Points of the first game of each incomplete pair."""
        self._counts = [0] * 5
        self.verdict = _evaluate(test, self._counts)
        for record in records:
            self.add(record)

    @property
    def is_decided(self) -> bool:
        """True if the test has ended, so that further games are not counted."""
        return self.verdict.state != "continue"

    def add(self, record: ScoredGame) -> None:
        """Count a game that has ended."""
        if record.kind is Kind.VOID or self.is_decided:
            return
        points = record.points[0 if record.first == self._name else 1]
        if record.pair not in self._halves:
            self._halves[record.pair] = points
            return
        self._counts[round(2 * (self._halves.pop(record.pair) + points))] += 1
        self.verdict = _evaluate(self._test, self._counts)


def evaluate_points(test: Sprt, points: Iterable[float]) -> SprtVerdict:
    """Evaluate the test on the first-named bot's points in each pair; the first decision is final.

    The pairs are in the order of their completion.
    """
    return history(test, points)[-1]


def history(test: Sprt, points: Iterable[float]) -> list[SprtVerdict]:
    """Return the state of the test before the first pair and after each of them, up to its decision."""
    counts = [0] * 5
    found = [_evaluate(test, counts)]
    for pair in points:
        counts[round(2 * pair)] += 1
        found.append(_evaluate(test, counts))
        if found[-1].state != "continue":
            break
    return found


def _evaluate(test: Sprt, counts: Sequence[int]) -> SprtVerdict:
    pairs = sum(counts)
    lower, upper = math.log(test.beta / (1 - test.alpha)), math.log((1 - test.beta) / test.alpha)
    five = (counts[0], counts[1], counts[2], counts[3], counts[4])
    # Prior of a quarter pair per result: without it, the zero variance after the first pair would decide the test.
    weights = [count + 0.25 for count in counts]
    total = sum(weights)
    mean = sum(weight * half / 4 for half, weight in enumerate(weights)) / total
    variance = sum(weight * (half / 4 - mean) ** 2 for half, weight in enumerate(weights)) / total
    s0, s1 = _score(test.elo0), _score(test.elo1)
    llr = pairs * (s1 - s0) * (2 * mean - s0 - s1) / (2 * variance) if pairs else 0.0
    state: Literal["H0", "H1", "continue"] = "H1" if llr >= upper else "H0" if llr <= lower else "continue"
    return SprtVerdict(state, llr, lower, upper, pairs, five)
