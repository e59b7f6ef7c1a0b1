"""Has the archive follow what is played: in a thread of its own, behind the commits, which wait for nothing of it.

The rules are asked in a process of their own at a low priority: they would hold up the coordinator, and bots come
first.
Refuses to know what the archive makes of a game.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from arena.collections import following
from arena.log import logger
from arena.store import Store, archive_file
from arena.store.archive_entry import NewGame
from referee.pool import SlotPool

LOOK_S = 15.0
"""How long a game that was played may not be in the archive."""


def prepared_aside(records: Sequence[bytes]) -> list[NewGame]:
    """See `following.prepared`: what the process does."""
    os.setpriority(os.PRIO_PROCESS, 0, 10)
    return following.prepared(records)


class Follower:
    """`begin` starts a look for new games, unless one is going on or was made just now, and returns at once.

    `fenced` makes that only the owner of the lease writes; `folder` may have an archive as it was once kept.
    """

    def __init__(
        self,
        store: Store,
        fenced: Callable[[], AbstractContextManager[None]],
        folder: Path,
        *,
        clock: Callable[[], float] = time.monotonic,
        prepare: following.Prepare | None = None,
    ) -> None:
        self._store, self._fenced, self._folder, self._clock = store, fenced, folder, clock
        self._prepare = prepare or self._prepare_aside
        self._not_before = clock() + LOOK_S
        self._pool: SlotPool | None = None
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self._log = logger("archive")

    def begin(self) -> None:
        """Look for new games in a thread, if it is time."""
        if self._clock() < self._not_before or self._stop.is_set() or (self._thread and self._thread.is_alive()):
            return
        self._not_before = self._clock() + LOOK_S
        self._thread = threading.Thread(target=self._follow, name="archive", daemon=True)
        self._thread.start()

    def stop(self, seconds: float = 10.0) -> None:
        """End soon: what is not in the archive yet is taken in by the next one."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(seconds)
        self._close()

    def _follow(self) -> None:
        try:
            with self._fenced():
                archive_file.adopt(self._store.archive, self._folder)
                count = following.follow(self._store, self._stop.is_set, self._prepare)
        except Exception as error:  # the outermost loop of this thread: the next look tries again
            if not self._stop.is_set():
                self._log.error("not followed", error=f"{type(error).__name__}: {error}")
            self._close()
            return
        if count:
            self._log.info("followed", games=count)
        else:
            self._close()

    def _prepare_aside(self, records: Sequence[bytes]) -> list[NewGame]:
        if self._pool is None:
            self._pool = SlotPool(1)
        return self._pool.submit(prepared_aside, records).result()

    def _close(self) -> None:
        """End the process."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None
