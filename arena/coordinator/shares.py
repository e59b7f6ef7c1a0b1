"""Shares of the tournaments in the games that are handed out: start-time fair queueing.

Every tournament has a virtual time that advances by its games, the faster the lower its weight; the one with the
earliest time is next. One that had nothing to play does not save up time: it is next at once, then takes turns.
(Goyal, Vin, Cheng 1996, "Start-time fair queueing".)
"""

from __future__ import annotations

from collections.abc import Mapping

DOUBLING = 5
"""Difference of two priorities of which the higher one gets twice as many games."""
LEAST_WEIGHT = 1 / 16
"""Weight of the lowest priorities; the highest one of all tournaments with games to play has the weight 1."""


def weights(priorities: Mapping[int, int]) -> dict[int, float]:
    highest = max(priorities.values(), default=0)
    return {
        number: max(2.0 ** ((priority - highest) / DOUBLING), LEAST_WEIGHT) for number, priority in priorities.items()
    }


class Shares:
    """The virtual times, in memory: a new coordinator begins with equal ones."""

    def __init__(self) -> None:
        self._now = 0.0
        """The time of the tournament that was served last."""
        self._times: dict[int, float] = {}
        """Times after the present one."""

    def time(self, tournament_id: int) -> float:
        """Return the virtual time of a tournament: the earliest is next."""
        return max(self._now, self._times.get(tournament_id, 0.0))

    def serve(self, tournament_id: int, games: int, weight: float) -> None:
        """Hand out games of the tournament with the earliest time."""
        self._now = self.time(tournament_id)
        self._times[tournament_id] = self._now + games / weight
        self._times = {number: time for number, time in self._times.items() if time > self._now}
