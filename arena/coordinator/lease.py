"""The lease that makes one process the coordinator: taken, renewed in time, given up.

Everything here asks the database; a renewal must not wait behind the coordinator's work.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import Executor

from arena.coordinator import lease_owner
from arena.log import logger
from arena.store import Store, StoreUnavailableError

LEASE = "referee"
"""Its name in the database."""


class LeaseOwner:
    """Who asks for the lease, under a `name` of its own, for `seconds` at a time."""

    def __init__(self, store: Store, seconds: float) -> None:
        self.name = lease_owner.new_name()
        self.seconds = seconds
        self._leases = store.leases
        self._log = logger("coordinator")

    def take(self) -> bool:
        """Take the lease when it is free, or when its owner has died on this machine. Raises StoreUnavailableError."""
        if self._leases.take(LEASE, self.name, self.seconds):
            return True
        found = self._leases.get(LEASE)
        if found is None or not lease_owner.is_dead(found.owner):
            return False
        self._log.info("lease of the dead", owner=found.owner)
        self._leases.release(LEASE, found.owner)
        return self._leases.take(LEASE, self.name, self.seconds)

    def release(self) -> None:
        """Give the lease up, if it is still owned."""
        self._leases.release(LEASE, self.name)

    async def renew(self, thread: Executor, lost: asyncio.Event) -> None:
        """Renew the lease in time, in a thread, until it is `lost`.

        A database that is away for as long as the lease lasts means it is lost.
        """
        loop = asyncio.get_running_loop()
        until = loop.time() + self.seconds
        while not lost.is_set():
            await asyncio.sleep(self.seconds / 3)
            asked = loop.time()
            try:
                is_mine = await loop.run_in_executor(thread, self._leases.take, LEASE, self.name, self.seconds)
                until = asked + self.seconds if is_mine else asked
            except StoreUnavailableError as error:
                self._log.warning("lease not renewed", error=str(error))
            if loop.time() >= until:
                lost.set()
