"""Has the archive follow what is played: beside the coordinator's turns, so that commits do not wait for it.

The rules are asked in a process of their own at a low priority: they would hold up the coordinator, and bots come
first.
Refuses to know what the archive makes of a game.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence

from arena.collections import following
from arena.helper_process import HelperProcess
from arena.log import logger
from arena.store import Store
from arena.store.archive_entry import NewArchivedGame

LOOK_S = 15.0
"""How long a game that was played may not be in the archive."""


def prepared_aside(records: Sequence[bytes]) -> list[NewArchivedGame]:
    """See `following.prepared`: what the process does."""
    os.setpriority(os.PRIO_PROCESS, 0, 10)
    return following.prepared(records)


class Follower:
    """Takes new games into the archive."""

    def __init__(self, store: Store, *, prepare: following.Prepare | None = None) -> None:
        self._store = store
        self._prepare = prepare or self._prepare_aside
        self.process = HelperProcess()
        self._log = logger("archive")

    def work(self, stop: threading.Event) -> int:
        """Take in what is new; how many games."""
        count = following.follow(self._store, stop.is_set, self._prepare)
        if count:
            self._log.info("followed", games=count)
        return count

    def _prepare_aside(self, records: Sequence[bytes]) -> list[NewArchivedGame]:
        return self.process.ask(prepared_aside, records)
