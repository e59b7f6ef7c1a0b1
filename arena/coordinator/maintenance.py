"""What the referee does once a day beside its work: the archive of games, stray bundles, what is over.

Which day a chore was last done for stands in the database, so that the next process knows. Every chore can be repeated
and interrupted without harm. Refuses to know leases: only who acts may ask for it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from arena.collections.dumps import Dumps, Interrupted
from arena.log import logger
from arena.store import Store

if TYPE_CHECKING:
    from arena.config import Settings
    from arena.submission.bundle_store import BundleStore

AGAIN_S = 3600.0
"""A chore that failed is tried again after that time."""


@dataclass(slots=True)
class Chore:
    """`work` returns how much it did; it is due from `hour` (UTC) on."""

    name: str
    hour: int
    work: Callable[[], int]
    next_look: int = 0
    """The day of the next look at it, so that the database is not asked at every turn."""
    not_before: float = 0.0


@dataclass(slots=True)
class Upkeep:
    """The chores of a server; `begin` starts those that are due in a thread of their own and returns at once."""

    store: Store
    chores: list[Chore]
    on_done: Callable[[str, datetime], None] = lambda name, at: None
    _thread: threading.Thread | None = None
    _stop: threading.Event = field(default_factory=threading.Event)

    @classmethod
    def of(cls, settings: Settings, store: Store, bundles: Callable[[], BundleStore]) -> Upkeep:
        """As the server is set."""
        found = cls(store, [])
        if settings.archive:
            dumps = Dumps.of(settings)
            archive = Chore("archive", settings.archive_hour, lambda: dumps.update(store, must_stop=found.is_stopping))
            found.chores.append(archive)
        found.chores.append(Chore("bundles", 4, lambda: bundles().sweep(store.versions.bundles)))
        found.chores.append(Chore("forget", 4, store.house.forget))
        return found

    def is_stopping(self) -> bool:
        """Whether the order to stop has come."""
        return self._stop.is_set()

    def begin(self, at: datetime) -> None:
        """See to what is due at this time of day, unless that is being done."""
        if self._thread is not None and self._thread.is_alive():
            return
        due = [chore for chore in self.chores if self._is_due(chore, at)]
        if due and not self.is_stopping():
            # A daemon: whatever it is at can be cut short.
            self._thread = threading.Thread(target=self._do, args=(due, at), name="upkeep", daemon=True)
            self._thread.start()

    def stop(self, seconds: float = 10.0) -> None:
        """Let what is being done end soon, and wait for it."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(seconds)

    def _is_due(self, chore: Chore, at: datetime) -> bool:
        return at.toordinal() >= chore.next_look and at.hour >= chore.hour and time.monotonic() >= chore.not_before

    def _do(self, due: list[Chore], at: datetime) -> None:
        log = logger("upkeep")
        day = at.toordinal()
        for chore in due:
            try:
                if self.store.house.chore_done(chore.name) < day:
                    count = chore.work()
                    self.store.house.do_chore(chore.name, day)
                    log.info("chore", chore=chore.name, count=count)
                    self.on_done(chore.name, at)
                chore.next_look = day + 1
            except Interrupted:
                return
            except Exception as error:  # the outermost loop of this thread
                chore.not_before = time.monotonic() + AGAIN_S
                log.error("chore failed", chore=chore.name, error=f"{type(error).__name__}: {error}")
