"""A race: find the first k players of a field at a given confidence, which holds however often the race is evaluated.

The first players are those with the greatest **shares**. A player's share is its expected points per game, in pairs of
games with sides swapped, averaged equally over all opponents (its Borda score). Shares rank any field, even
if players beat each other in turn, and do not depend on how often each pair has played.

Whether one player is ahead of another is tested by betting (Waudby-Smith and Ramdas 2024, "Estimating means of bounded
random variables by betting"). A **cycle** of a player is one pair of games against each opponent. In a cycle the
difference of two players' shares has one observation for each common opponent, and one from their own meeting. The mean
of these observations is the difference.

A stake on "ahead" multiplies the wealth by `1 + stake * observation`. If the player is not ahead, the product over a
cycle has an expectation of at most 1: a product of independent factors is at most the power of their mean. By Ville's
inequality the probability that the wealth ever reaches 1/error is at most `error`, however the next games are chosen. A
wrong decision on the first k of n needs one of k(n - k) such errors, so each gets an equal part of the total error.

Games are assumed to be independent. Games of deterministic bots that repeat a small opening book are not.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

STAKES = np.array([0.02, 0.03, 0.05, 0.08, 0.12, 0.18, 0.27, 0.4, 0.6, 0.85])
"""Fractions of the wealth that are bet each time. The wealth is split equally among them, which avoids choosing one."""
_STEPS = 4
"""A share of a pair of games is a multiple of one quarter."""
_GAINS = np.log1p(STAKES[:, None] * np.arange(-_STEPS, _STEPS + 1) / _STEPS)
"""Change of the logarithm of each stake's wealth, by the observation from -1 to 1."""

Pairing = tuple[int, int]
"""Two players, the lower number first."""


@dataclass(frozen=True, slots=True)
class Race:
    """The question which players are the best (`first` says how many), with a type I error of at most `error`."""

    first: int
    error: float

    def bound(self, players: int) -> float:
        """Return the wealth at which it is decided that one of `players` players is ahead of another."""
        return max(1, self.first * (players - self.first)) / self.error


def certainty_of(wealth: float) -> float:
    """Return how sure an order with this wealth is: by Ville's inequality a wrong one reaches it with probability
    1 / `wealth` at most.
    """
    return max(0.0, 1 - 1 / wealth) if wealth > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Doubt:
    """An undecided order: whether `one`, now among the first, is ahead of `two`. `wealth` is the evidence for that."""

    one: int
    two: int
    wealth: float

    @property
    def certainty(self) -> float:
        """The certainty of the order, from 0 to below 1."""
        return certainty_of(self.wealth)


@dataclass(frozen=True, slots=True)
class RaceState:
    """State of a race: how far it is decided which players are the first ones.

    `shares` and `cycles` are by player. `doubts` are the undecided orders, the one with the least evidence first.
    """

    leaders: tuple[int, ...]
    """Players decided to be among the first."""
    others: tuple[int, ...]
    """Players decided not to be among the first."""
    undecided: tuple[int, ...]
    shares: Mapping[int, float]
    """Points per game, averaged equally over all opponents; one half for an opponent that was not met yet."""
    cycles: Mapping[int, int]
    """Number of pairs of games played against every opponent: the smallest of these numbers."""
    doubts: tuple[Doubt, ...]
    bound: float
    """Wealth that decides an order."""

    @property
    def is_settled(self) -> bool:
        """True if it is decided for every player whether it is among the first."""
        return not self.undecided

    def as_json(self, names: Mapping[int, str]) -> dict[str, Any]:
        """Convert to a JSON object with players by name, best first."""
        return {
            "state": "settled" if self.is_settled else "open",
            "leaders": [names[player] for player in self.ranked(self.leaders)],
            "undecided": [names[player] for player in self.ranked(self.undecided)],
            "others": [names[player] for player in self.ranked(self.others)],
            "bound": round(self.bound, 2),
            "doubts": [
                {"one": names[doubt.one], "two": names[doubt.two], "wealth": round(doubt.wealth, 4)}
                for doubt in self.doubts
            ],
            "shares": {names[player]: round(self.shares[player], 4) for player in self.ranked(self.shares)},
            "cycles": {names[player]: self.cycles[player] for player in self.ranked(self.shares)},
        }

    def ranked(self, players: Iterable[int]) -> list[int]:
        """Sort players by their shares, best first."""
        return sorted(players, key=lambda one: (-self.shares[one], one))


def evaluate_race(race: Race, players: Sequence[int], scores: Mapping[Pairing, Sequence[float]]) -> RaceState:
    """Evaluate a race. `scores` holds, for each pairing, a score from 0 to 1 for each pair of games: the average points
    per game of the player with the lower number.

    The pairs must be in planned order and stop before the first one that is still being played. In the order in which
    games end, short games would come first and bias the result.
    """
    size = len(players)
    place = {player: number for number, player in enumerate(players)}
    known = {
        pairing: pair_scores for pairing, pair_scores in scores.items() if pairing[0] in place and pairing[1] in place
    }
    longest = max(map(len, known.values()), default=0)
    table = np.zeros((size, size, longest))
    met = np.zeros((size, size), dtype=np.int64)
    for (low, high), shares in known.items():
        row, column = place[low], place[high]
        table[row, column, : len(shares)] = shares
        table[column, row, : len(shares)] = 1 - np.asarray(shares)
        met[row, column] = met[column, row] = len(shares)
    # No player meets itself: the diagonal must not be the minimum of its row.
    np.fill_diagonal(met, longest)
    cycles = met.min(axis=1, initial=longest)
    means = np.where(met > 0, table.sum(axis=2) / np.maximum(met, 1), 0.5)
    np.fill_diagonal(means, 0)
    share = means.sum(axis=1) / max(1, size - 1)
    bound = race.bound(size)
    now, ever = _wealth(table, cycles)
    leaders, others = _settle(race.first, ever >= math.log(bound))
    undecided = [index for index in range(size) if index not in leaders and index not in others]
    ranked = sorted(undecided, key=lambda index: (-share[index], index))
    left = race.first - len(leaders)
    doubts = [
        Doubt(players[ahead], players[behind], math.exp(now[ahead, behind]))
        for ahead in ranked[:left]
        for behind in ranked[left:]
    ]
    return RaceState(
        tuple(players[index] for index in sorted(leaders)),
        tuple(players[index] for index in sorted(others)),
        tuple(players[index] for index in undecided),
        {player: float(share[number]) for player, number in place.items()},
        {player: int(cycles[number]) for player, number in place.items()},
        tuple(sorted(doubts, key=lambda doubt: (doubt.wealth, doubt.one, doubt.two))),
        bound,
    )


def _wealth(
    table: npt.NDArray[np.float64], cycles: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Compute the log-wealth of the bet that the row's player is ahead of the column's: its value after the cycles
    that both players have completed, and its maximum up to then.
    """
    size = len(table)
    now, ever = np.zeros((size, size)), np.zeros((size, size))
    quarters = np.rint(table * _STEPS).astype(np.int64)
    for row in range(size):
        for column in range(row + 1, size):
            count = int(min(cycles[row], cycles[column]))
            if not count:
                continue
            seen = quarters[row, :, :count] - quarters[column, :, :count]
            seen[row] = 0
            seen[column] = 2 * quarters[row, column, :count] - _STEPS
            for sign, (ahead, behind) in ((1, (row, column)), (-1, (column, row))):
                logs = _GAINS[:, sign * seen + _STEPS].sum(axis=1).cumsum(axis=1)
                most = logs.max(axis=0)
                mixed = most + np.log(np.exp(logs - most).mean(axis=0))
                now[ahead, behind], ever[ahead, behind] = mixed[-1], mixed.max()
    return now, ever


def _settle(first: int, ahead: npt.NDArray[np.bool_]) -> tuple[set[int], set[int]]:
    """Decide which players are among the first and which are not, from the decided orders.

    If m places are left for u undecided players, a player ahead of u - m of them is among the first, and a player
    behind m of them is not.
    """
    open_ = set(range(len(ahead)))
    leaders: set[int] = set()
    others: set[int] = set()
    while open_:
        left = first - len(leaders)
        inside = {player for player in open_ if sum(ahead[player, rival] for rival in open_) >= len(open_) - left}
        outside = {player for player in open_ if sum(ahead[rival, player] for rival in open_) >= left}
        if not inside and not outside:
            break
        leaders |= inside
        others |= outside - inside
        open_ -= inside | outside
    return leaders, others
