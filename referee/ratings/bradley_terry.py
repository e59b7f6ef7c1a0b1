"""Fit strengths to all games at once by the Bradley-Terry model with draws; the order of the games is irrelevant.

The model of R. R. Davidson (1970): if a bot has worth p = exp(theta), a game of i and j is won by i with weight p_i,
won by j with weight p_j, and drawn with weight v sqrt(p_i p_j). It is a multinomial logit in (theta, log v), so the
likelihood is concave and Newton's method finds its one maximum.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

ELO = 400 / math.log(10)
"""Elo per unit of theta."""
Z95 = 1.959963984540054
PRIOR = 1e-3
"""Precision of the prior N(0, 1/PRIOR) of every parameter: almost none, but it keeps undefeated bots finite."""

_ROUNDS = 100
_Floats = npt.NDArray[np.float64]
_Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class FittedStrength:
    """Strength of one bot. `elo` is relative to the mean of all bots; `interval` is the half-width of its 95 %
    confidence interval.
    """

    name: str
    elo: float
    interval: float
    games: int

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            # Adding 0 turns a rounded -0.0 into 0.0.
            "elo": round(self.elo, 2) + 0.0,
            "interval": round(self.interval, 2),
            "games": self.games,
        }


@dataclass(frozen=True, slots=True)
class StrengthFit:
    """The strengths, best first. `draw` is the probability of a draw between equals.

    `advantage` is the advantage of moving first in Elo, `advantage_interval` the half-width of its 95 % confidence
    interval (both 0 if not fitted). `groups` is the number of connected groups of bots: Elo is comparable only within a
    group. `covariance` is the covariance matrix of the Elo values, in the order of the strengths.
    """

    strengths: tuple[FittedStrength, ...]
    draw: float
    advantage: float
    advantage_interval: float
    groups: int
    covariance: _Floats = field(default_factory=lambda: np.zeros((0, 0)), compare=False, repr=False)

    @property
    def has_advantage(self) -> bool:
        """True if moving first is a significant advantage or disadvantage: the confidence interval excludes 0."""
        return abs(self.advantage) > self.advantage_interval > 0

    def as_json(self) -> dict[str, Any]:
        return {
            "strengths": [strength.as_json() for strength in self.strengths],
            "draw": round(self.draw, 4),
            "advantage": round(self.advantage, 2) + 0.0,
            "advantage_interval": round(self.advantage_interval, 2),
            "groups": self.groups,
        }


def fit(
    results: Iterable[tuple[str, str, float]], *, with_advantage: bool = False, prior: float = PRIOR
) -> StrengthFit:
    """Fit the model to results in any order: (bot that moved first, its opponent, points of the former).

    Raises ValueError for points other than 0, 0.5 and 1, and for a bot against itself.
    """
    table = Counter(results)  # counted in C: there may be millions
    for first, second, points in table:
        if points not in (0, 0.5, 1) or first == second:
            raise ValueError(f"invalid result: {first!r} against {second!r} with {points} points")
    names = sorted({result[0] for result in table} | {result[1] for result in table})
    if not names:
        return StrengthFit((), 0.0, 0.0, 0.0, 0)
    size, index = len(names), {name: number for number, name in enumerate(names)}
    firsts = np.array([index[first] for first, _, _ in table], dtype=np.int64)
    seconds = np.array([index[second] for _, second, _ in table], dtype=np.int64)
    outcomes = (2 - 2 * np.array([points for _, _, points in table])).astype(np.int64)
    if not with_advantage:  # sides do not matter: merge the rows of both orders
        outcomes = np.where(seconds < firsts, 2 - outcomes, outcomes)
        firsts, seconds = np.minimum(firsts, seconds), np.maximum(firsts, seconds)
    # One row for each pair of bots: a step costs as much as there are pairs, however many games they have played.
    pairs, rows = np.unique(firsts * size + seconds, return_inverse=True)
    firsts, seconds = np.divmod(pairs, size)
    # Wins of the first, draws, wins of the second.
    counts = np.bincount(3 * rows + outcomes, [*table.values()], 3 * len(pairs)).astype(np.float64).reshape(-1, 3)
    model = _Model(size, firsts, seconds, counts, with_advantage=with_advantage, prior=prior)
    values, covariance = model.solve()
    # Only differences of strengths are determined, so all are given relative to their mean.
    centre = np.eye(size) - np.full((size, size), 1 / size)
    theta = centre @ values[:size]
    spread = centre @ covariance[:size, :size] @ centre
    totals = np.zeros(size)
    np.add.at(totals, firsts, counts.sum(axis=1))
    np.add.at(totals, seconds, counts.sum(axis=1))
    strengths = [
        FittedStrength(
            name,
            float(ELO * theta[number]),
            float(Z95 * ELO * math.sqrt(max(0.0, spread[number, number]))),
            int(totals[number]),
        )
        for number, name in enumerate(names)
    ]
    strengths.sort(key=lambda strength: (-strength.elo, strength.name))
    order = [index[strength.name] for strength in strengths]
    tie = math.exp(values[size]) if model.has_draws else 0.0
    gain = values[-1] if with_advantage else 0.0
    error = math.sqrt(max(0.0, float(covariance[-1, -1]))) if with_advantage else 0.0
    return StrengthFit(
        tuple(strengths),
        tie / (2 + tie),
        float(ELO * gain),
        Z95 * ELO * error,
        _groups(size, firsts, seconds),
        ELO**2 * spread[np.ix_(order, order)],
    )


def superiority(fitted: StrengthFit) -> _Floats:
    """Compute the likelihood of superiority (LOS) of every bot over every other, best first; ½ on the diagonal.

    LOS is the probability, by the normal approximation of the fit, that the bot's strength is the greater one.
    """
    elo = np.array([strength.elo for strength in fitted.strengths])
    own = np.diag(fitted.covariance)
    # A bot's difference to itself has variance 0, and rounding may make others slightly negative.
    variance = np.maximum(own[:, None] + own[None, :] - 2 * fitted.covariance, 1e-12)
    deviations = (elo[:, None] - elo[None, :]) / np.sqrt(variance)
    return np.array([[0.5 * math.erfc(-deviation / math.sqrt(2)) for deviation in row] for row in deviations.tolist()])


class _Model:
    """The likelihood of the results. Its parameters are theta of every bot, then log v if there are draws, then the
    advantage of moving first if fitted.

    Each game has three outcomes (first wins, draw, second wins) whose log-weights are linear in the parameters.
    """

    def __init__(
        self, size: int, firsts: _Ints, seconds: _Ints, counts: _Floats, *, with_advantage: bool, prior: float
    ) -> None:
        self.size, self.counts = size, counts
        self.has_draws = bool(counts[:, 1].any())
        self.with_advantage = with_advantage
        self.length = size + self.has_draws + with_advantage
        self.prior = np.full(self.length, prior)
        rows, games = len(firsts), counts.sum(axis=1)
        self.total = games
        # The derivatives of the log-weights of the outcomes by the parameters, as sparse rows: (columns, coefficients).
        used = [True, True, self.has_draws, with_advantage]
        others = [np.full(rows, number) for number in range(size, self.length)]
        self.columns = np.stack([firsts, seconds, *others], axis=1)
        self.coefficients = np.array([[1, 0, 0, 0.5], [0.5, 0.5, 1, 0], [0, 1, 0, -0.5]])[:, used]
        self.squares = np.einsum("oa,ob->oab", self.coefficients, self.coefficients).reshape(3, -1)
        # Cells of the information matrix to which each row adds. `bincount` is ten times as fast as `np.add.at`.
        self.cells = (self.columns[:, :, None] * self.length + self.columns[:, None, :]).ravel()

    def _chances(self, values: _Floats) -> tuple[_Floats, float]:
        weights = values[self.columns] @ self.coefficients.T
        if not self.has_draws:
            weights[:, 1] = -np.inf
        # Less the greatest: `exp` of a weight beyond 709 would overflow.
        top = weights.max(axis=1, keepdims=True)
        shifted = np.exp(weights - top)
        total = shifted.sum(axis=1, keepdims=True)
        logs = weights - top - np.log(total)
        likelihood = float(np.sum(self.counts * np.where(self.counts > 0, logs, 0.0)))
        return shifted / total, likelihood - float(self.prior @ values**2) / 2

    def solve(self) -> tuple[_Floats, _Floats]:
        """Return the parameters of the greatest likelihood, and the inverse of the information matrix there."""
        values = np.zeros(self.length)
        chances, best = self._chances(values)
        for _ in range(_ROUNDS):
            gradient, information = self._slopes(values, chances)
            step = np.linalg.solve(information, gradient)
            scale = 1.0
            # Newton overshoots only far from the maximum: halve the step until the likelihood no longer falls.
            while True:
                trial = values + scale * step
                chances, likelihood = self._chances(trial)
                if likelihood >= best - 1e-12 * abs(best) or scale < 1e-6:
                    break
                scale /= 2
            values, best = trial, likelihood
            if float(np.abs(step).max()) * scale < 1e-11:
                break
        return values, np.linalg.inv(self._slopes(values, chances)[1]).astype(np.float64)

    def _slopes(self, values: _Floats, chances: _Floats) -> tuple[_Floats, _Floats]:
        gradient = -self.prior * values
        information = np.diag(self.prior.copy())
        # A constant added to every theta changes only the prior: fix the mean, or the matrix is nearly singular.
        information[: self.size, : self.size] += 1 / self.size
        expected = self.counts - chances * self.total[:, None]
        gradient += np.bincount(self.columns.ravel(), (expected @ self.coefficients).ravel(), self.length)
        mean = chances @ self.coefficients
        width = mean.shape[1]
        square = (chances @ self.squares).reshape(-1, width, width)
        blocks = self.total[:, None, None] * (square - mean[:, :, None] * mean[:, None, :])
        information += np.bincount(self.cells, blocks.ravel(), self.length**2).reshape(self.length, self.length)
        return gradient, information


def _groups(size: int, firsts: _Ints, seconds: _Ints) -> int:
    """Count the connected groups: each bot takes the lowest label of those that it met, until none changes."""
    labels, before = np.arange(size), np.zeros(0, dtype=np.int64)
    while not np.array_equal(labels, before):
        before = labels
        lowest, labels = np.minimum(labels[firsts], labels[seconds]), labels.copy()
        np.minimum.at(labels, firsts, lowest)
        np.minimum.at(labels, seconds, lowest)
        labels = labels[labels]  # the label of the label: long chains need few rounds
    return len(np.unique(labels))
