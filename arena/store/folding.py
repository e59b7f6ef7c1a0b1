"""Games folded many at a time: what `arena.store.fold` does one by one, with the same digits. Knows no SQL."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from arena.store import fold
from referee.ratings import trueskill
from referee.rules import load
from referee.rules.core import Kind

MANY = 2_000
"""From so many games on it is worth while to load what is compiled."""
_VOID, _FORFEIT = Kind.VOID.value, Kind.FORFEIT.value
_POINTS = {"first": 1.0, "second": 0.0}
_TALLIES = ("games", "wins", "draws", "losses", "forfeits", "last")

Game = tuple[str, int, str, str, int, int, str | None, str, bool]
"""The fields of `fold.FoldedGame`, in its order."""


@cache
def _chance(family: str) -> float:
    return load(family).draw_probability


class Folding:
    """Ratings folded from nothing: `count` games that count, up to the commit number `last`, `without` some."""

    def __init__(self, without: frozenset[str] = frozenset()) -> None:
        self.without = without
        self.earlier: dict[int, int] = {}
        self.count = self.last = 0
        self._index: dict[tuple[str, int], int] = {}
        self._strengths = np.empty((0, 2))
        self._opposition = np.empty(0)
        self._tallies = np.empty((0, len(_TALLIES)), dtype=np.int64)
        self._waiting: list[tuple[int, int, float, float, bool, int]] = []
        self._changes: list[NDArray[np.float64]] = []

    def counts(self, game: Game) -> bool:
        """Whether a game moves ratings here."""
        game_id, _, _, _, first, second, _, kind, is_rated = game
        return is_rated and kind != _VOID and first != second and game_id not in self.without

    def play(self, games: Iterable[Game]) -> NDArray[np.float64]:
        """Fold games that count, in the order of their commits.

        A row for each: mu and sigma before and after, of first, then of second.
        """
        for _, committed, family, pool, first, second, winner, kind, _ in games:
            points = _POINTS.get(winner or "", 0.5)
            seats = self._seat(pool, first), self._seat(pool, second)
            self._waiting.append((*seats, points, _chance(family), kind == _FORFEIT, committed))
        self._rate()
        found, self._changes = self._changes, []
        return np.concatenate(found) if found else np.empty((0, 8))

    def line(self, pool: str, version_id: int) -> fold.FoldedRating | None:
        """The present line of a version."""
        place = self._index.get((pool, version_id))
        if place is None:
            return None
        self._rate()
        return self._line(place)

    def follows(self, version_id: int) -> int | None:
        """The version this one continues."""
        return self.earlier.get(version_id)

    def lines(self) -> dict[tuple[str, int], fold.FoldedRating]:
        """All lines, by pool and version."""
        return {key: self._line(place) for key, place in self._index.items()}

    def _line(self, place: int) -> fold.FoldedRating:
        mu, sigma = self._strengths[place].tolist()
        games, wins, draws, losses, forfeits, last = self._tallies[place].tolist()
        rating = trueskill.Rating(mu, sigma, games, wins, draws, losses)
        return fold.FoldedRating(rating, forfeits, float(self._opposition[place]), last)

    def _seat(self, pool: str, version_id: int) -> int:
        place = self._index.get((pool, version_id))
        if place is None:
            start = fold.present_line(self, pool, version_id).rating
            place = len(self._index)
            if place == len(self._strengths):
                more = max(64, place)
                self._strengths = np.concatenate([self._strengths, np.empty((more, 2))])
                self._opposition = np.concatenate([self._opposition, np.zeros(more)])
                self._tallies = np.concatenate([self._tallies, np.zeros((more, len(_TALLIES)), dtype=np.int64)])
            self._strengths[place] = start.mu, start.sigma
            self._index[pool, version_id] = place
        return place

    def _rate(self) -> None:
        """Fold the games that wait."""
        if not self._waiting:
            return
        from referee.ratings import two_players

        one, two, given, chances, forfeits, committed = zip(*self._waiting, strict=True)
        self._waiting = []
        self.count += len(one)
        seats = np.array([one, two], dtype=np.int64).T
        points = np.array(given)
        changes = two_players.play(self._strengths, seats, points, chances, compiled=self.count >= MANY)
        self._changes.append(changes)
        # Whoever plays twice is added to twice, one game after the other: `at`, and rows in the order of the games.
        lines, scored = seats.ravel(), np.stack([points, 1 - points], axis=1).ravel()
        np.add.at(self._opposition, lines, changes[:, [4, 0]].ravel())
        lost = np.repeat(np.array(forfeits), 2) & (scored == 0)
        ones = np.ones(len(lines), dtype=np.int64)
        for column, which in enumerate((ones, scored == 1, scored == 0.5, scored == 0, lost)):
            np.add.at(self._tallies[:, column], lines, which.astype(np.int64))
        np.maximum.at(self._tallies[:, 5], lines, np.repeat(np.array(committed, dtype=np.int64), 2))
