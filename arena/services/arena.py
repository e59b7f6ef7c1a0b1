"""The arena as use cases see it: the database, the bundles, the settings, and a way to tell the coordinator."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from arena.config import Settings
from arena.events.bus import Bus, EventBus
from arena.events.messages import CoordinatorWakeup
from arena.services.sides import Advantages
from arena.services.table import TableCache
from arena.store import Identity, Store
from arena.submission.bundle_store import BundleStore


@dataclass
class Arena:
    """What every use case gets. Without a bus nobody is told: the coordinator sees what is new when it looks next."""

    store: Store
    settings: Settings
    bus: EventBus = field(default_factory=Bus)
    tables: TableCache = field(default_factory=TableCache)
    advantages: Advantages = field(default_factory=Advantages)

    @cached_property
    def bundles(self) -> BundleStore:
        """Where the files of bots are."""
        return BundleStore.of(self.settings)

    def wake(self) -> None:
        """Tell the coordinator that there is something new to do."""
        self.bus.publish(CoordinatorWakeup())

    def note(self, action: str, subject: str, by: Identity | None, **detail: Any) -> None:
        """Write into the audit log who did what to what; without an identity it was whoever runs the arena."""
        self.store.audit.note(action, subject, by.user_id if by else None, **detail)
