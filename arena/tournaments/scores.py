"""Sums of the results of a tournament, from which its standings follow.

Their size grows with the pairings, not with the games. New results are added to them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Self

from arena.store.games.results import TournamentResult
from arena.tournaments.match import TournamentGame
from referee.ratings.strength import Estimate, estimate_counts
from referee.rules.core import Kind

_POINTS: Mapping[str | None, float] = {"first": 1.0, "second": 0.0}


@dataclass(slots=True)
class PlayerScore:
    """Numbers of a version's games with 0, ½ and 1 points, and of its pairs with 0, ½ … 2 points.

    `singles` are the games whose pair has no other result.
    """

    games: list[int] = field(default_factory=lambda: [0] * 3)
    singles: list[int] = field(default_factory=lambda: [0] * 3)
    pairs: list[int] = field(default_factory=lambda: [0] * 5)

    @property
    def points(self) -> float:
        """Points of all games."""
        return self.games[2] + self.games[1] / 2

    @property
    def estimate(self) -> Estimate:
        """Strength relative to the opponents."""
        return estimate_counts(self.pairs, self.singles)


class Scores:
    """The sums of a tournament's results, by version id.

    `meetings` counts, for each (first version, second version), the games in which the first scored 0, ½ and 1 points.
    `forfeits` counts the games lost by forfeit, `endings` all games by termination. `ends` has the first and the last
    rated game of a version in a pool. `last` is the last commit number, `restarted` counts games that needed several
    attempts.
    """

    def __init__(self) -> None:
        self.players: defaultdict[int, PlayerScore] = defaultdict(PlayerScore)
        self.meetings: dict[tuple[int, int], list[int]] = {}
        self.forfeits: Counter[int] = Counter()
        self.endings: Counter[str] = Counter()
        self.ends: dict[tuple[int, str], tuple[str, str]] = {}
        self.last = self.restarted = 0
        self._half: dict[tuple[int, int, int], dict[int, int]] = {}
        """First results of pairs whose other game has no result yet: twice the points by version."""

    @classmethod
    def of_games(cls, games: Iterable[TournamentGame], versions: Mapping[int, int]) -> Self:
        """Return the sums of games between seats; `versions` maps seats to version ids."""
        found = cls()
        for game in games:
            if game.points is not None:
                found._add(versions[game.first], versions[game.second], game.pair, game.points)
        return found

    def extend(self, results: Iterable[TournamentResult]) -> None:
        """Add new results, in commit order."""
        for one in results:
            self._add(one.first_id, one.second_id, one.pair, _POINTS.get(one.winner, 0.5))
            self.endings[one.termination] += 1
            if one.termination_class == Kind.FORFEIT.value and one.winner in _POINTS:
                self.forfeits[one.second_id if one.winner == "first" else one.first_id] += 1
            if one.is_rated:
                for version in (one.first_id, one.second_id):
                    key = version, one.pool
                    self.ends[key] = self.ends.get(key, (one.id, ""))[0], one.id
            self.restarted += one.attempt > 1
            self.last = one.commit_number

    def _add(self, first: int, second: int, pair: int, points: float) -> None:
        mine = round(2 * points)
        scored, key = {first: mine, second: 2 - mine}, (pair, min(first, second), max(first, second))
        self.meetings.setdefault((first, second), [0] * 3)[mine] += 1
        before = self._half.pop(key, None)
        if before is None:
            self._half[key] = scored
        for version, points_twice in scored.items():
            player = self.players[version]
            player.games[points_twice] += 1
            if before is None:
                player.singles[points_twice] += 1
            else:
                player.singles[before[version]] -= 1
                player.pairs[points_twice + before[version]] += 1

    def between(self, one: int, two: int) -> list[int]:
        """Return the numbers of games between two versions in which `one` scored 0, ½ and 1 points."""
        first, second = self.meetings.get((one, two), [0] * 3), self.meetings.get((two, one), [0] * 3)
        return [first[points] + second[2 - points] for points in range(3)]

    def sonneborn_berger(self, points: Mapping[int, float]) -> dict[int, float]:
        """Return for each version the sum, over its opponents, of its points against them times their `points`."""
        found: dict[int, float] = defaultdict(float)
        for (first, second), (lost, drawn, won) in self.meetings.items():
            if first in points and second in points:
                found[first] += (won + drawn / 2) * points[second]
                found[second] += (lost + drawn / 2) * points[first]
        return found

    def results(self, names: Mapping[int, str]) -> Iterator[tuple[str, str, float]]:
        """Yield, for every game, the names of the first and the second version and the points of the first."""
        for (first, second), counts in self.meetings.items():
            for twice, count in enumerate(counts):
                for _ in range(count):
                    yield names[first], names[second], twice / 2
