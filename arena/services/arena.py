"""The context of all use cases: database, bundles, settings, caches, and the bus to the coordinator."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import Any

from cachetools import LRUCache

from arena.analysis.engine_jobs import BoardEngine
from arena.cluster.spool import Spool
from arena.config import Settings
from arena.documents.account import Identity
from arena.documents.rating import FirstMoveAdvantage
from arena.errors import StoreError
from arena.events.bus import Bus, EventBus
from arena.events.messages import CoordinatorWakeup
from arena.services.standings_cache import StandingsCache
from arena.store import Store
from arena.store.base.engine import Changes
from arena.store.ratings.rating_history import games_of
from arena.submission.bundle_store import BundleStore
from referee.ratings.bradley_terry import fit

MAX_GAMES, MAX_VERSIONS = 50_000, 200
"""Larger pools are not fitted, because a page would wait too long."""
MAX_POOLS = 256
"""Number of pools whose advantage is cached."""
MAX_GROWTH = 1.02
"""Growth of a pool below which the earlier fit is reused."""


class FirstMoveAdvantages:
    """Cache of the first-move advantage of each pool; a pool that has grown only a little is not fitted again."""

    def __init__(self) -> None:
        self._known: LRUCache[str, tuple[int, FirstMoveAdvantage | None]] = LRUCache(MAX_POOLS)
        self._lock = Lock()

    def of(self, store: Store, pool: str, games: int) -> FirstMoveAdvantage | None:
        """Return the advantage in a pool that has `games` games; None for an empty or too large pool."""
        with self._lock:
            before, advantage = self._known.get(pool, (-1, None))
        if not before <= games <= before * MAX_GROWTH:
            advantage = _fitted(store, pool, games)
            with self._lock:
                self._known[pool] = games, advantage
        return advantage


def _fitted(store: Store, pool: str, games: int) -> FirstMoveAdvantage | None:
    if not 0 < games <= MAX_GAMES or store.ratings.size(pool) > MAX_VERSIONS:
        return None
    fitted = fit(games_of(store.rating_history.counts(pool)), with_advantage=True)
    return FirstMoveAdvantage(fitted.advantage, fitted.advantage_interval, fitted.has_advantage)


@dataclass
class Arena:
    """The context of a use case. Without a shared bus the coordinator sees new work at its next poll."""

    store: Store
    settings: Settings
    bus: EventBus = field(default_factory=Bus)
    standings: StandingsCache = field(default_factory=StandingsCache)
    first_move_advantages: FirstMoveAdvantages = field(default_factory=FirstMoveAdvantages)

    board_engine: BoardEngine = field(default_factory=BoardEngine)

    @cached_property
    def bundles(self) -> BundleStore:
        return BundleStore.of(self.settings)

    @property
    def changes(self) -> Changes:
        """The revisions of the database, for caches of data derived from it."""
        return self.store.changes

    @cached_property
    def spool(self) -> Spool:
        """Finished results that wait for the database; the coordinator of this process uses the same object."""
        return Spool(self.settings.spool_folder)

    def is_damaged(self) -> bool:
        try:
            return bool(self.store.health.damage)
        except StoreError:
            return False

    def wake(self) -> None:
        """Notify the coordinator of new work."""
        self.bus.publish(CoordinatorWakeup())

    def note(self, action: str, subject: str, by: Identity | None, **detail: Any) -> None:
        """Write an action into the audit log. `by` is None for actions of the operator on the command line."""
        self.store.audit.note(action, subject, by.user_id if by else None, **detail)
