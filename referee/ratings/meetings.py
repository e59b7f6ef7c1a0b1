"""Pairwise results: the points of every pair of bots, the points expected by a fit, and the likelihood of superiority.

Matrices list the bots in the order of a fit, best first; entry (i, j) is from bot i's point of view against bot j.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from referee.ratings.bradley_terry import ELO, StrengthFit, superiority

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
POINTS = np.array([1.0, 0.5, 0.0])
"""Points of a win, a draw and a loss."""


@dataclass(frozen=True, slots=True)
class Meetings:
    """Results by the bot that moved first: a row for each pair with games in which one of `firsts` moved first.

    `counts` are the wins, draws and losses of the bot that moved first.
    """

    names: tuple[str, ...]
    firsts: Ints
    seconds: Ints
    counts: Floats

    @property
    def games(self) -> Floats:
        """Number of games of every pair."""
        return self.both(self.counts.sum(axis=1))

    @property
    def points(self) -> Floats:
        """Points of every bot against every other."""
        scored = self.counts @ POINTS
        found = self.matrix(scored)
        return found + self.matrix(self.counts.sum(axis=1) - scored).T

    def matrix(self, rows: Floats) -> Floats:
        """Return a matrix with the value of each row at (`firsts`, `seconds`), 0 elsewhere. Leading axes are kept."""
        size = len(self.names)
        found = np.zeros((*rows.shape[:-1], size, size))
        found[..., self.firsts, self.seconds] = rows
        return found

    def both(self, rows: Floats) -> Floats:
        """Return a matrix with the sum of the values of both rows of every pair, whichever bot moved first."""
        found = self.matrix(rows)
        return found + np.swapaxes(found, -1, -2)

    def against(self, rows: Floats) -> Floats:
        """Return a matrix with, for each bot against each other, the value of the row in which it moved first, less the
        value of the row in which the other moved first.
        """
        found = self.matrix(rows)
        return found - np.swapaxes(found, -1, -2)


@dataclass(frozen=True, slots=True)
class Expectation:
    """Results that a fit expects in the rows of `Meetings`: probabilities that the first bot wins, draws and loses."""

    chances: Floats

    @property
    def points(self) -> Floats:
        """Expected points of the bot that moves first, in one game."""
        found: Floats = self.chances @ POINTS
        return found

    @property
    def variance(self) -> Floats:
        """Variance of the first bot's points in one game: the derivative of `points` by the difference of strength."""
        found: Floats = self.chances @ POINTS**2 - self.points**2
        return found


def meetings(results: Iterable[tuple[str, str, float]], names: Iterable[str]) -> Meetings:
    """Tabulate results (bot that moved first, its opponent, points of the former) of bots with these names only."""
    order = tuple(names)
    index = {name: number for number, name in enumerate(order)}
    table: dict[tuple[int, int], list[int]] = {}
    for (first, second, points), games in Counter(results).items():
        if first in index and second in index:
            table.setdefault((index[first], index[second]), [0, 0, 0])[int(2 - 2 * points)] += games
    pairs = sorted(table)
    return Meetings(
        order,
        np.array([first for first, _ in pairs], dtype=np.int64),
        np.array([second for _, second in pairs], dtype=np.int64),
        np.array([table[pair] for pair in pairs], dtype=np.float64).reshape(-1, 3),
    )


def theta_of(fit: StrengthFit) -> Floats:
    """Return the strengths of a fit, best first, as theta of the model in `bradley_terry`."""
    found: Floats = np.array([one.elo for one in fit.strengths]) / ELO
    return found


def outcomes(difference: Floats, draw: float) -> Floats:
    """Compute the probabilities of win, draw and loss (Davidson) from a difference of strength in theta.

    `draw` is the probability of a draw between equals.
    """
    tie = 2 * draw / (1 - draw) if draw < 1 else math.inf
    if math.isinf(tie):  # every game was drawn
        return np.stack([0 * difference, 1 + 0 * difference, 0 * difference], axis=-1)
    half = np.clip(difference, -60, 60) / 2
    weights = np.stack([np.exp(half), np.full_like(half, tie), np.exp(-half)], axis=-1)
    chances: Floats = weights / weights.sum(axis=-1, keepdims=True)
    return chances


def expectation(met: Meetings, fit: StrengthFit, cyclic: Floats | None = None) -> Expectation:
    """Compute the results that a fit expects; `cyclic` is added to the difference of strength of every pair."""
    theta = theta_of(fit)
    difference = theta[met.firsts] - theta[met.seconds] + fit.advantage / ELO
    if cyclic is not None:
        difference = difference + cyclic[met.firsts, met.seconds]
    return Expectation(outcomes(difference, fit.draw))


def shares(fit: StrengthFit, cyclic: Floats | None = None) -> Floats:
    """Compute the expected score of every bot against every other, with both sides equally often; ½ on the diagonal."""
    theta = theta_of(fit)
    difference = theta[:, None] - theta[None, :] + (0 if cyclic is None else cyclic)
    gain = fit.advantage / ELO
    points = [outcomes(difference + side, fit.draw) @ POINTS for side in (gain, -gain)]
    found: Floats = (points[0] + points[1]) / 2
    return found


@dataclass(frozen=True, slots=True)
class PairFigures:
    """Results of one bot against another: points, expected points, their difference in standard deviations, and the
    likelihood of superiority from all games of the field.
    """

    points: float
    games: int
    expected: float
    deviations: float
    superiority: float

    @property
    def step(self) -> int:
        """Whole standard deviations beyond expectation, from -3 to 3."""
        return max(-3, min(3, int(self.deviations)))


class Comparison:
    """Observed and expected points of every pair. `fit` has strengths only, `sided` also the advantage of the first
    move.
    """

    def __init__(self, results: Iterable[tuple[str, str, float]], fit: StrengthFit, sided: StrengthFit) -> None:
        met = meetings(results, [strength.name for strength in sided.strengths])
        plain, games = expectation(met, sided), met.counts.sum(axis=1)
        share = met.against(games * (plain.points - 0.5))
        self._places = {name: place for place, name in enumerate(met.names)}
        self._surely_places = {strength.name: place for place, strength in enumerate(fit.strengths)}
        # Lists, not arrays: a page reads thousands of single numbers, which takes longer from an array.
        self._points, self._games = met.points.tolist(), met.games.tolist()
        self._expected = (share + met.games / 2).tolist()
        self._deviation = np.sqrt(met.both(games * plain.variance)).tolist()
        self._superiority = superiority(fit).tolist()

    def of(self, bot: str, rival: str) -> PairFigures | None:
        """Return the `PairFigures` of `bot` against `rival`; None if one of them is not among the rated bots."""
        row, column = self._places.get(bot), self._places.get(rival)
        if row is None or column is None:
            return None
        points, expected, deviation = (
            self._points[row][column],
            self._expected[row][column],
            self._deviation[row][column],
        )
        return PairFigures(
            points,
            int(self._games[row][column]),
            expected,
            (points - expected) / deviation if deviation > 1e-6 else 0.0,
            self._superiority[self._surely_places[bot]][self._surely_places[rival]],
        )
