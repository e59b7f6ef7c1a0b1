"""Find non-transitive results: whether bots beat each other in cycles, which bots do, and the maximal lottery.

The model adds an antisymmetric matrix to the differences of strengths, as in mELO (Balduzzi, Tuyls, Perolat and
Graepel, "Re-evaluating evaluation", 2018). The matrix has low rank if a few styles beat each other in turn.

Significance is tested by a parametric bootstrap. The same games are simulated with the fitted strengths alone. The
strengths are fitted again to each simulation, by one step of Newton's method, which is enough because they are close.
There are two test statistics of the points beyond expectation, R. One is the largest singular value of R: the
likelihood gained by the first two dimensions of the matrix (a score test). The other is the largest sum of R around any
three bots in standard deviations, which finds one cycle among many bots. The smaller of the two p-values counts,
doubled because there are two tests.

The matrix maximises the likelihood less a penalty on its singular values (the nuclear norm, which makes small ones
zero). It is fitted by proximal gradient steps that also adjust the strengths. The penalty is the 95th percentile of the
largest singular value under the null hypothesis. Therefore the matrix of a false positive is almost 0.

A bot's share is its weight in the maximal lottery (Kreweras 1965, Fishburn 1984): the mixture of bots that no bot is
expected to beat. Without a cycle it is the best bot alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from referee.ratings.bradley_terry import ELO, StrengthFit
from referee.ratings.meetings import (
    POINTS,
    Expectation,
    Floats,
    Meetings,
    expectation,
    meetings,
    outcomes,
    shares,
    theta_of,
)

CYCLE_SIGNIFICANCE = 0.02
"""Significance level of the test for cycles: the probability of a type I error."""
PAIR_SIGNIFICANCE = 0.05
"""Significance level of all surprises of a tournament together."""
MIN_BOTS = 3
"""Number of bots in the shortest cycle."""
MAX_BOTS = 100
"""Number of the strongest bots that are tested: the number of possible cycles grows with its third power."""
SIMULATIONS = 199
_MANY_BOTS, _FEWER_SIMULATIONS = 60, 99
"""With more bots than this, fewer simulations are enough."""
MAX_NAMED = 5
"""Maximum number of cycles, and of surprises, that are listed."""
_MIN_SURPRISE_POINTS = 0.25
"""Points beyond expectation that no rounding explains, where one bot wins every game and nothing can vary."""
_STEPS = 200
_BATCH_NUMBERS = 2_000_000
"""Maximum number of values of simulated tables in memory at once."""
_RATE = 0.2


@dataclass(frozen=True, slots=True)
class Surprise:
    """Points of `bot` against `rival` that differ from expectation by `deviations` standard deviations."""

    bot: str
    rival: str
    points: float
    games: int
    expected: float
    deviations: float


@dataclass(frozen=True, slots=True)
class CycleFindings:
    """Non-transitive part of the results.

    `chance` is the p-value: how often results without cycles look at least as cyclic as these. Each of `cycles` lists
    bots of which each beat the next one, and the last one the first; the most significant cycle comes first. `shares`
    are the bots' shares of the maximal lottery, largest first. `cycles` and `shares` are empty unless `is_cyclic`.
    `surprises` are the pairs with significant differences from expectation.
    """

    bots: int
    games: int
    chance: float
    is_cyclic: bool
    cycles: tuple[tuple[str, ...], ...]
    shares: tuple[tuple[str, float], ...]
    surprises: tuple[Surprise, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            "bots": self.bots,
            "games": self.games,
            "chance": round(self.chance, 4),
            "is_cyclic": self.is_cyclic,
            "cycles": [list(cycle) for cycle in self.cycles],
            "shares": [{"name": name, "share": round(share, 4)} for name, share in self.shares],
            "surprises": [
                {key: round(value, 3) if isinstance(value, float) else value for key, value in asdict(surprise).items()}
                for surprise in self.surprises
            ],
        }


@dataclass(frozen=True, slots=True)
class _Statistics:
    """Test statistics, an array with one value for each of several tables of results.

    They are about the points beyond expectation: `spread` is the largest singular value, `circle` the largest sum
    around three bots, `single` the largest deviation of one pair.
    """

    spread: Floats
    circle: Floats
    single: Floats


def analyse_cycles(results: Sequence[tuple[str, str, float]], fit: StrengthFit, seed: int = 0) -> CycleFindings | None:
    """Test results for cycles that `fit` does not explain, reproducibly for a seed; None with too few bots."""
    if len(fit.strengths) < MIN_BOTS:
        return None
    test = _test_cycles(results, fit, seed)
    met = test.field.met
    weights: list[tuple[str, float]] = []
    if test.is_cyclic:
        weights = list(zip(met.names, lottery(shares(fit, _low_rank(test, fit))).tolist(), strict=True))
    return CycleFindings(
        bots=len(met.names),
        games=int(met.counts.sum()),
        chance=test.chance,
        is_cyclic=test.is_cyclic,
        cycles=tuple(_named_cycles(test)) if test.is_cyclic else (),
        shares=tuple(sorted(((name, share) for name, share in weights if share >= 0.005), key=lambda share: -share[1])),
        surprises=tuple(_surprises(test)),
    )


class _Field:
    """The results that are expected of the bots by their strengths, for comparison with actual results.

    `deviation` is the standard deviation of the points of every pair, infinite for pairs without games so that they
    never count as a surprise.
    """

    def __init__(self, met: Meetings, plain: Expectation) -> None:
        size = len(met.names)
        self.met, self.plain, self.games = met, plain, met.counts.sum(axis=1)
        slope = self.games * plain.variance
        self.variance, self.turned = met.both(slope), met.against(slope)
        self.deviation = np.sqrt(np.where(self.variance > 0, self.variance, np.inf))
        # The information matrix: derivatives of the bots' expected points by the strengths and by the advantage.
        # 1 / size fixes the mean of the strengths, which no result determines.
        information = np.diag(self.variance.sum(axis=1)) - self.variance + 1 / size
        column = self.turned.sum(axis=1)
        whole = np.block([[information, column[:, None]], [column[None, :], np.array([[slope.sum()]])]])
        # The pseudo-inverse: bots without games between their groups leave the matrix singular.
        self.inverse = np.linalg.pinv(whole, hermitian=True)
        threes = np.array(list(itertools.combinations(range(size), 3)), dtype=np.int32)
        first, second, third = threes.T
        sides = self.variance[first, second], self.variance[second, third], self.variance[third, first]
        have_met = (sides[0] > 0) & (sides[1] > 0) & (sides[2] > 0)
        # A triple of which two never met has no cycle to be seen.
        self.threes = threes[have_met]
        self.around = np.sqrt(sides[0] + sides[1] + sides[2])[have_met]

    def excess_points(self, counts: Floats) -> Floats:
        """Compute the points of every pair beyond expectation, after refitting the strengths, for each table of
        results.
        """
        size = len(self.variance)
        rows = counts @ POINTS - self.games * self.plain.points
        residual = self.met.against(rows)
        slopes = np.concatenate([residual.sum(axis=2), rows.sum(axis=1)[:, None]], axis=1)
        step = slopes @ self.inverse
        theta, gain = step[:, :size], step[:, size, None, None]
        excess: Floats = residual - self.variance * (theta[:, :, None] - theta[:, None, :]) - self.turned * gain
        return excess

    def circles(self, residual: Floats) -> Floats:
        """Sum the points beyond expectation around every triple of bots that have met, in standard deviations.

        The sign tells in which direction the bots beat each other.
        """
        one, two, three = self.threes.T
        found: Floats = (residual[one, two] + residual[two, three] + residual[three, one]) / self.around
        return found

    def statistics(self, residual: Floats) -> _Statistics:
        """Compute the test statistics of several matrices of points beyond expectation."""
        # The largest singular value is the root of the largest eigenvalue of the square, which is cheaper to find.
        square = np.swapaxes(residual, 1, 2) @ residual
        return _Statistics(
            np.sqrt(np.maximum(0, np.linalg.eigvalsh(square)[:, -1])),
            np.array([float(np.abs(self.circles(matrix)).max(initial=0.0)) for matrix in residual]),
            np.abs(residual / self.deviation).max(axis=(1, 2)),
        )

    def simulated(self, seed: int) -> _Statistics:
        """Simulate the same games with the fitted strengths alone and compute their test statistics."""
        rng = np.random.default_rng(seed)
        games, size = self.games.astype(np.int64), len(self.variance)
        parts = []
        left = SIMULATIONS if size <= _MANY_BOTS else _FEWER_SIMULATIONS
        while left:
            count = min(left, max(1, _BATCH_NUMBERS // (size * size)))
            left -= count
            counts = rng.multinomial(games, self.plain.chances, size=(count, len(games))).astype(np.float64)
            parts.append(self.statistics(self.excess_points(counts)))
        return _Statistics(*(np.concatenate([getattr(part, name) for part in parts]) for name in _Statistics.__slots__))


@dataclass(frozen=True, slots=True)
class _CycleTest:
    """The test of one set of results for cycles. `residual` holds the points of every pair beyond expectation."""

    field: _Field
    residual: Floats
    simulated: _Statistics
    chance: float

    @property
    def is_cyclic(self) -> bool:
        return self.chance <= CYCLE_SIGNIFICANCE


def _test_cycles(results: Sequence[tuple[str, str, float]], fit: StrengthFit, seed: int) -> _CycleTest:
    met = meetings(results, [one.name for one in fit.strengths][:MAX_BOTS])
    field = _Field(met, expectation(met, fit))
    residual = field.excess_points(met.counts[None])
    found, simulated = field.statistics(residual), field.simulated(seed)
    chance = min(1.0, 2 * min(_chance(found.spread, simulated.spread), _chance(found.circle, simulated.circle)))
    return _CycleTest(field, residual[0], simulated, chance)


def _chance(found: Floats, simulated: Floats) -> float:
    """Compute the p-value, counting the results themselves as a simulation (Davison and Hinkley 1997)."""
    # 1e-9: simulations of few games often have exactly this value, but for rounding.
    return float((1 + np.count_nonzero(simulated >= found[0] - 1e-9)) / (1 + len(simulated)))


def _critical_value(simulated: Floats) -> float:
    """Return the 95th percentile of a statistic under the null hypothesis, from its simulated values."""
    return float(np.quantile(simulated, 1 - PAIR_SIGNIFICANCE, method="higher"))


def _low_rank(test: _CycleTest, fit: StrengthFit) -> Floats:
    """Fit a matrix of low rank and changes of the strengths to the results.

    Return what both add to the difference of strength of every pair, in theta.
    """
    met, penalty = test.field.met, _critical_value(test.simulated.spread)
    size = len(met.names)
    centre = np.eye(size) - 1 / size
    games, points = met.counts.sum(axis=1), met.counts @ POINTS
    width = 1 / max(1e-9, float(met.both(games).max()) / 4)
    strengths = theta_of(fit)[:size]
    matrix, moved = np.zeros((size, size)), np.zeros(size)
    for _ in range(_STEPS):
        before = matrix
        added = moved[:, None] - moved[None, :] + matrix
        difference = (strengths[:, None] - strengths[None, :] + added)[met.firsts, met.seconds]
        chances = Expectation(outcomes(difference + fit.advantage / ELO, fit.draw))
        residual = met.against(points - games * chances.points)
        weight = met.both(games * chances.variance).sum(axis=1)
        moved = moved + residual.sum(axis=1) / np.maximum(weight, 1e-9) / 2
        left, singular, right = np.linalg.svd(matrix + width * (centre @ residual @ centre))
        matrix = (left * np.maximum(0, singular - width * penalty)) @ right
        if float(np.abs(matrix - before).max()) < 1e-4:
            break
    total: Floats = moved[:, None] - moved[None, :] + matrix
    return total


def lottery(expected: Floats, rounds: int = 10_000) -> Floats:
    """Compute the maximal lottery of expected scores: optimistic multiplicative weights, averaged over rounds.

    Two players that use these weights converge to the equilibrium of a zero-sum game, with an error of 1/rounds
    (Rakhlin and Sridharan 2013).
    """
    payoff = 2 * expected - 1
    size = len(payoff)
    log_weights, total, before = np.zeros(size), np.zeros(size), np.zeros(size)
    for _ in range(rounds):
        weights = np.exp(log_weights - log_weights.max())
        weights /= weights.sum()
        total += weights
        gain = payoff @ weights
        log_weights = log_weights + _RATE * (2 * gain - before)
        before = gain
    average: Floats = total / total.sum()
    return average


def _named_cycles(test: _CycleTest) -> list[tuple[str, ...]]:
    """List cycles of three in which each bot scored more than half against the next, most surprising first.

    Significant cycles are listed, at most MAX_NAMED; one that shares two bots with a cycle listed before is left out.
    If none is significant by itself, the most surprising one is listed as the example.
    """
    met, threes, bound = test.field.met, test.field.threes, _critical_value(test.simulated.circle)
    points, games = met.points, met.games
    around = test.field.circles(test.residual)
    cycles: list[tuple[int, ...]] = []
    for place in np.argsort(-np.abs(around), kind="stable").tolist():
        if cycles and (len(cycles) == MAX_NAMED or abs(around[place]) <= bound):
            break
        first, second, third = threes[place].tolist()
        turn = (first, second, third) if around[place] > 0 else (first, third, second)
        beats = all(2 * points[here, there] > games[here, there] for here, there in itertools.pairwise((*turn, first)))
        if beats and all(len(set(turn) & set(other)) < 2 for other in cycles):
            cycles.append(turn)
    return [tuple(met.names[number] for number in turn) for turn in cycles]


def _surprises(test: _CycleTest) -> list[Surprise]:
    """List the pairs with significant deviations, largest first; `bot` is the one that scored more than expected."""
    met, residual = test.field.met, test.residual
    around = residual / test.field.deviation
    points, games = met.points, met.games
    is_surprise = (around > _critical_value(test.simulated.single)) & (residual > _MIN_SURPRISE_POINTS)
    rows, columns = np.nonzero(is_surprise)
    order = np.argsort(-around[rows, columns], kind="stable")[:MAX_NAMED]
    return [
        Surprise(
            met.names[i],
            met.names[j],
            float(points[i, j]),
            int(games[i, j]),
            float(points[i, j] - residual[i, j]),
            float(around[i, j]),
        )
        for i, j in zip(rows[order].tolist(), columns[order].tolist(), strict=True)
    ]
