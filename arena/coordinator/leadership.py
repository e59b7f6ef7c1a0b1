"""The lease that makes one process the coordinator: acquire, renew and release it.

All of this waits for the database, so use a dedicated thread: a renewal must not wait for the coordinator's work. The
clocks of two machines are never compared, so that a machine with a wrong clock neither steals nor loses the lease.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Executor

from arena.coordinator import process_identity
from arena.coordinator.outage_log import OutageLog
from arena.errors import StoreUnavailableError
from arena.log import logger
from arena.store import Store
from arena.store.operations.leases import OwnedLease

LEASE = "referee"
"""The name of the lease in the database."""
POLL_INTERVAL_S = 1.0
"""How often a standby checks the lease; more often if the lease is short."""


class Leadership:
    """A candidate for the lease, with a unique `name`; it acquires the lease for `seconds` at a time. `clock` is
    monotonic.
    """

    def __init__(
        self, store: Store, seconds: float, outage: OutageLog, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.name = process_identity.new_name()
        self.seconds = seconds
        self.poll_interval_s = min(POLL_INTERVAL_S, seconds / 3)
        self.is_anothers = False
        """Whether another process owned an unexpired lease at the last check, by the clock of the database."""
        self._leases, self._outage, self._clock = store.leases, outage, clock
        self._seen: OwnedLease | None = None
        """The lease at the last check."""
        self._since = self._looked = 0.0
        """When this state of the lease was first seen, and when the database last answered."""
        self._log = logger("coordinator")

    def take(self) -> bool:
        """Acquire the lease if it is free, its owner has died on this machine, or its owner no longer renews it.

        Returns whether this process owns it. Raises StoreUnavailableError.
        """
        began = self._clock()
        found = self._leases.get(LEASE)
        self.is_anothers = found is not None and found.owner != self.name and found.is_alive
        is_stale = self._is_stale(found, self._clock() - began)
        if found is not None and found.owner != self.name and not is_stale:
            if not process_identity.is_dead(found.owner):
                return False
            self._log.info("lease owner is dead", owner=found.owner)
        try:
            return self._leases.take(LEASE, self.name, self.seconds, seen=found)
        finally:  # waiting for a lock of the owner's last transaction does not count as an outage
            self._looked = self._clock()

    def _is_stale(self, found: OwnedLease | None, took_s: float) -> bool:
        """Return whether the lease was not renewed for its whole length while the database always answered.

        If the database does not answer, the owner cannot renew the lease either, and must get the first chance to do
        so.
        """
        at = self._clock()
        is_same = found is not None and self._seen is not None and _mark(found) == _mark(self._seen)
        has_answered = max(took_s, at - self._looked - self.poll_interval_s) < self.seconds / 2
        if not (is_same and has_answered):
            self._since = at
        self._seen, self._looked = found, at
        return at - self._since >= self.seconds

    def release(self) -> None:
        """Release the lease if this process owns it."""
        self._leases.release(LEASE, self.name)

    async def renew(self, thread: Executor, lost: asyncio.Event) -> None:
        """Renew the lease in time, in a thread, until the database reports that it is `lost`.

        An outage of the database does not end the ownership: no other process can acquire the lease meanwhile, and all
        writes are fenced by it.
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
    """Return the fields that change whenever a lease is taken or renewed."""
    return lease.owner, lease.until
