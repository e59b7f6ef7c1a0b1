"""Indexes new games for the archive, in a background thread so that commits do not wait for it.

The rules run in a low-priority helper process: they would block the coordinator, and bots have precedence.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence

from arena.collections import following
from arena.log import logger
from arena.offload import OffloadProcess
from arena.store import Store
from arena.store.archive.entry import NewArchivedGame

POLL_INTERVAL_S = 15.0
"""Longest time until a finished game is in the archive."""


def prepare_at_low_priority(records: Sequence[bytes]) -> list[NewArchivedGame]:
    """Lower the priority of this process, then prepare records (see `arena.collections.following.prepared`)."""
    os.setpriority(os.PRIO_PROCESS, 0, 10)
    return following.prepared(records)


class ArchiveIndexer:
    """Adds new games to the archive."""

    def __init__(self, store: Store, *, prepare: following.Prepare | None = None) -> None:
        self._store = store
        self._prepare = prepare or self._prepare_in_process
        self.process = OffloadProcess()
        self._log = logger("archive")

    def work(self, stop: threading.Event) -> int:
        """Add the new games and return their number."""
        count = following.follow(self._store, stop.is_set, self._prepare)
        if count:
            self._log.info("games archived", games=count)
        return count

    def _prepare_in_process(self, records: Sequence[bytes]) -> list[NewArchivedGame]:
        return self.process.call(prepare_at_low_priority, records)
