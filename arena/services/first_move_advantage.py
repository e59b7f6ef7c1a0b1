"""The first-move advantage in a rating pool, fitted together with the strengths of its players."""

from __future__ import annotations

from arena.documents.rating import FirstMoveAdvantage
from arena.store import Store
from arena.store.ratings.rating_history import games_of
from referee.ratings.bradley_terry import fit

MAX_GAMES, MAX_VERSIONS = 50_000, 200
"""Larger pools are not fitted, because a page would wait too long."""
MAX_GROWTH = 1.02
"""Growth of a pool below which the earlier fit is reused."""


class FirstMoveAdvantages:
    """Cache of the advantage per pool; a pool that has grown only a little is not fitted again."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, FirstMoveAdvantage | None]] = {}

    def of(self, store: Store, pool: str, games: int) -> FirstMoveAdvantage | None:
        """Return the advantage in a pool with this number of games; None for an empty or too large one."""
        before, found = self._known.get(pool, (-1, None))
        if not before <= games <= before * MAX_GROWTH:
            found = _fitted(store, pool, games)
            self._known[pool] = games, found
        return found


def _fitted(store: Store, pool: str, games: int) -> FirstMoveAdvantage | None:
    if not 0 < games <= MAX_GAMES or store.ratings.size(pool) > MAX_VERSIONS:
        return None
    fitted = fit(games_of(store.rating_history.counts(pool)), with_advantage=True)
    return FirstMoveAdvantage(fitted.advantage, fitted.advantage_interval, fitted.has_advantage)
