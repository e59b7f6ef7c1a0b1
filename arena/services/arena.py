"""The context of all use cases: database, bundles, settings, caches, and the bus to the coordinator."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from arena.analysis.board_engine import BoardEngine
from arena.cluster.spool import Spool
from arena.config import Settings
from arena.documents.identity import Identity
from arena.errors import StoreError
from arena.events.bus import Bus, EventBus
from arena.events.messages import CoordinatorWakeup
from arena.services.first_move_advantage import FirstMoveAdvantages
from arena.services.standings_cache import StandingsCache
from arena.store import Store
from arena.store.base.changes import Changes
from arena.submission.bundle_store import BundleStore


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
        """The store of bot files."""
        return BundleStore.of(self.settings)

    @property
    def changes(self) -> Changes:
        """The revisions of the database, to cache what is made from it."""
        return self.store.changes

    @cached_property
    def spool(self) -> Spool:
        """Finished results that wait for the database; the coordinator of this process uses the same object."""
        return Spool(self.settings.spool_folder)

    def is_damaged(self) -> bool:
        """Return whether the database is known to be damaged."""
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
