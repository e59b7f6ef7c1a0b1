"""Simultaneous perturbation (Spall 1998) on the results of pairs of games: all values change a little at once.

A trial is a pair of games of the present values, each moved up or down by a step at random, against their mirror image;
the values then go towards whoever did better. Everything follows from the seed and the results, by number and not by
time: a trial starts from the values after the trial `WINDOW` before it, so that as many may be played at once, and what
comes of a run is the same with any number of slots and however often it was interrupted. Refuses to know games.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from arena.laboratory.parameter import Parameter

WINDOW = 16
RATE = 0.02
"""How far values go for a result: in steps, for a point more than even, in the last trial."""
STABILITY = 0.1
"""The share of all trials that the early ones are taken to have behind them: without it the first would decide much."""
ALPHA, GAMMA = 0.602, 0.101
"""By which powers gains and steps shrink, as Spall recommends."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A pair of games to play: the values of the two bots, by the order of the parameters."""

    number: int
    plus: tuple[int, ...]
    minus: tuple[int, ...]


class Spsa:
    """A run over `pairs` trials: `ask` what to play, `tell` what came of it, in any order."""

    def __init__(self, parameters: Sequence[Parameter], pairs: int, *, seed: int, rate: float = RATE) -> None:
        self._parameters, self.pairs, self._seed, self._rate = tuple(parameters), pairs, seed, rate
        self._least = np.array([one.least for one in parameters], dtype=np.float64)
        self._most = np.array([one.most for one in parameters], dtype=np.float64)
        self._step = np.array([one.step for one in parameters], dtype=np.float64)
        self.course: npt.NDArray[np.float64] = np.zeros((pairs + 1, len(parameters)))
        """The values after each number of trials, as far as `applied`."""
        self.course[0] = [one.start for one in parameters]
        self.applied = 0
        self._results: dict[int, float | None] = {}
        self._asked: set[int] = set()
        self._next = 0
        self.pentanomial = [0, 0, 0, 0, 0]
        """Pairs in which the values that were moved up scored 0, ½, 1, 1½ and 2 points."""

    @property
    def told(self) -> int:
        """How many trials have a result."""
        return len(self._results)

    @property
    def is_done(self) -> bool:
        """Whether every trial has a result."""
        return self.applied == self.pairs

    @property
    def values(self) -> npt.NDArray[np.float64]:
        """What was found: the mean of the second half of the course so far, which wavers less than its end."""
        found: npt.NDArray[np.float64] = self.course[(self.applied + 1) // 2 : self.applied + 1].mean(axis=0)
        return found

    def ask(self) -> Trial | None:
        """The next trial to play; None when there is none, or none before others have results."""
        while self._next in self._results or self._next in self._asked:
            self._next += 1
        number = self._next
        if number >= self.pairs or number - WINDOW + 1 > self.applied:
            return None
        self._asked.add(number)
        return self._trial(number)

    def put_back(self, number: int) -> None:
        """A trial that was asked for and not played is there to be asked for again."""
        self._asked.discard(number)
        self._next = min(self._next, number)

    def tell(self, number: int, points: float | None) -> None:
        """The points of `Trial.plus` in both games, 0 to 2; None for a pair without a result, which changes nothing.

        Raises ValueError for a trial that there is not, or that was told before.
        """
        if not 0 <= number < self.pairs or number in self._results or points not in (None, 0, 0.5, 1, 1.5, 2):
            raise ValueError(f"trial {number} with {points} points: told before, or none of this run")
        self._asked.discard(number)
        self._results[number] = points
        if points is not None:
            self.pentanomial[round(2 * points)] += 1
        while self.applied in self._results:
            self._apply(self.applied)

    def _apply(self, number: int) -> None:
        points, values = self._results[number], self.course[number]
        if points is not None:
            gain = self._rate * self._gain(number) * self._reach(number) * self._flips(number)[0]
            values = values + gain * (2 * points - 2)
        self.course[number + 1] = np.clip(values, self._least, self._most)
        self.applied = number + 1

    def _trial(self, number: int) -> Trial:
        flips, lots = self._flips(number)
        middle = self.course[max(0, number - WINDOW + 1)]
        reach = self._reach(number) * flips
        plus, minus = (self._whole(middle + sign * reach, lots) for sign in (1, -1))
        return Trial(number, plus, minus)

    def _whole(self, values: npt.NDArray[np.float64], lots: npt.NDArray[np.float64]) -> tuple[int, ...]:
        """Values as options take them: rounded up as often as they are near, so that small changes show in the mean."""
        kept = np.clip(values, self._least, self._most)
        return tuple(math.floor(value + lot) for value, lot in zip(kept.tolist(), lots.tolist(), strict=True))

    def _flips(self, number: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Of each parameter: up or down, and the lot by which it is rounded."""
        rng = random.Random(f"spsa {self._seed} {number}")
        flips = [rng.choice((-1.0, 1.0)) for _ in self._parameters]
        return np.array(flips), np.array([rng.random() for _ in self._parameters])

    def _reach(self, number: int) -> npt.NDArray[np.float64]:
        """How far values are moved in a trial: a step in the last, more before."""
        reach: npt.NDArray[np.float64] = self._step * (self.pairs / (number + 1)) ** GAMMA
        return reach

    def _gain(self, number: int) -> float:
        """What a result counts in a trial beside the last one's."""
        early = STABILITY * self.pairs
        return float(
            ((early + self.pairs) / (early + number + 1)) ** ALPHA * ((number + 1) / self.pairs) ** (2 * GAMMA)
        )
