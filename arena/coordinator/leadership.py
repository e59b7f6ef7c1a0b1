"""The lease that makes one process the coordinator: taken, renewed in time, given up.

Everything here asks the database; a renewal must not wait behind the coordinator's work. No time of day is compared
with that of another machine: a clock that is wrong neither steals the lease nor gives it away.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Executor

from arena.coordinator import process_identity
from arena.coordinator.outage_log import OutageLog
from arena.log import logger
from arena.store import Store, StoreUnavailableError
from arena.store.leases import OwnedLease

LEASE = "referee"
"""Its name in the database."""
POLL_INTERVAL_S = 1.0
"""How often whoever stands by looks at the lease; more often where that is short."""


class Leadership:
    """Who asks for the lease, under a `name` of its own, for `seconds` at a time. `clock` only runs forward."""

    def __init__(
        self, store: Store, seconds: float, outage: OutageLog, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.name = process_identity.new_name()
        self.seconds = seconds
        self.poll_interval_s = min(POLL_INTERVAL_S, seconds / 3)
        self.is_anothers = False
        """Whether another process held the lease at the last look, renewed in time by the clock of the database."""
        self._leases, self._outage, self._clock = store.leases, outage, clock
        self._seen: OwnedLease | None = None
        """The lease as it stood at the last look."""
        self._since = self._looked = 0.0
        """When it was first seen so, and the last look."""
        self._log = logger("coordinator")

    def take(self) -> bool:
        """Take the lease when it is free, when its owner has died on this machine, or when nobody renews it.

        Raises StoreUnavailableError.
        """
        began = self._clock()
        found = self._leases.get(LEASE)
        self.is_anothers = found is not None and found.owner != self.name and found.is_alive
        is_stale = self._is_stale(found, self._clock() - began)
        if found is not None and found.owner != self.name and not is_stale:
            if not process_identity.is_dead(found.owner):
                return False
            self._log.info("lease of the dead", owner=found.owner)
        return self._leases.take(LEASE, self.name, self.seconds, seen=found)

    def _is_stale(self, found: OwnedLease | None, took_s: float) -> bool:
        """Whether the lease has stood unchanged for its whole length while the database answered all the time.

        While it did not, its owner could not renew it either, and is to have the chance before us.
        """
        at = self._clock()
        is_same = found is not None and self._seen is not None and _mark(found) == _mark(self._seen)
        has_answered = max(took_s, at - self._looked - self.poll_interval_s) < self.seconds / 2
        if not (is_same and has_answered):
            self._since = at
        self._seen, self._looked = found, at
        return at - self._since >= self.seconds

    def release(self) -> None:
        """Give the lease up, if it is still owned."""
        self._leases.release(LEASE, self.name)

    async def renew(self, thread: Executor, lost: asyncio.Event) -> None:
        """Renew the lease in time, in a thread, until it is `lost`: until the database says that it is not ours.

        A database that is away says nothing: nobody else can have taken the lease either, and what is written is
        written only under it.
        """
        loop = asyncio.get_running_loop()
        while not lost.is_set():
            await asyncio.sleep(self.seconds / 3)
            try:
                if not await loop.run_in_executor(thread, self._leases.renew, LEASE, self.name, self.seconds):
                    lost.set()
                self._outage.over(LEASE)
            except StoreUnavailableError as error:
                self._outage.note(error, LEASE)


def _mark(lease: OwnedLease) -> tuple[str, object]:
    """What every renewal changes."""
    return lease.owner, lease.until
