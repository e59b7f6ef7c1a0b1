"""The lease that makes one process the coordinator: acquire, renew and release it.

All of this waits for the database, so use a dedicated thread: a renewal must not wait for the coordinator's work. The
clocks of two machines are never compared, so that a machine with a wrong clock neither steals nor loses the lease.

Owners have unique names, by which other processes on the same machine can prove that an owner is dead. They then need
not wait for the lease to expire.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import socket
import time
import uuid
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from pathlib import Path

from arena.coordinator.background import OutageLog
from arena.errors import StoreUnavailableError
from arena.log import logger
from arena.store import Store
from arena.store.operations.leases import OwnedLease

LEASE = "referee"
"""The name of the lease in the database."""
POLL_INTERVAL_S = 1.0
"""How often a standby checks the lease; more often if the lease is short."""
_NAME = re.compile(r".*:([1-9][0-9]*):([0-9a-f]{8})-([0-9]+):[0-9a-f]{8}", re.ASCII)
_DEAD = ("Z", "X")
"""States of a process that has ended but was not reaped."""


class Leadership:
    """A candidate for the lease, with a unique `name`; it acquires the lease for `seconds` at a time. `clock` is
    monotonic.
    """

    def __init__(
        self, store: Store, seconds: float, outage: OutageLog, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.name = new_name()
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
        lease = self._leases.get(LEASE)
        self.is_anothers = lease is not None and lease.owner != self.name and lease.is_alive
        is_stale = self._is_stale(lease, self._clock() - began)
        if lease is not None and lease.owner != self.name and not is_stale:
            if not is_dead(lease.owner):
                return False
            self._log.info("lease owner is dead", owner=lease.owner)
        try:
            return self._leases.take(LEASE, self.name, self.seconds, seen=lease)
        finally:  # waiting for a lock of the owner's last transaction does not count as an outage
            self._looked = self._clock()

    def _is_stale(self, lease: OwnedLease | None, took_s: float) -> bool:
        """Return whether the lease was not renewed for its whole length while the database always answered.

        If the database does not answer, the owner cannot renew the lease either, and must get the first chance to do
        so.
        """
        at = self._clock()
        is_same = lease is not None and self._seen is not None and _mark(lease) == _mark(self._seen)
        has_answered = max(took_s, at - self._looked - self.poll_interval_s) < self.seconds / 2
        if not (is_same and has_answered):
            self._since = at
        self._seen, self._looked = lease, at
        return at - self._since >= self.seconds

    def fenced(self) -> AbstractContextManager[None]:
        """Return a context in which only the owner of the lease can write."""
        return self._leases.fencing(LEASE, self.name)

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
            # Two renewals may fail or come late before a standby takes the lease.
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


def new_name() -> str:
    """Return a new unique name for a part of this process: `host:pid:place-start:nonce`.

    `place` identifies one boot of the kernel and one PID namespace: a PID is looked up only where it means the same
    process.
    """
    pid = os.getpid()
    return f"{socket.gethostname()[:60]}:{pid}:{_place() or '0' * 8}-{_start(pid)}:{uuid.uuid4().hex[:8]}"


def process_of(name: str) -> str:
    """Describe a named process for people, such as `process 4711 on host`."""
    found = _NAME.fullmatch(name)
    return f"process {found[1]} on {name.partition(':')[0]}" if found else f"process {name}"


def is_dead(name: str) -> bool:
    """Return whether the process with this name has certainly ended; False if that cannot be determined from here."""
    match = _NAME.fullmatch(name)
    if match is None or not _place() or match[2] != _place():
        return False
    pid, start = int(match[1]), int(match[3])
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:  # of another user, whose /proc entries may be hidden
        pass
    # The kernel gives the number of an ended process to a new one, which began at another time.
    return start > 0 and _start(pid) not in (start, 0)


def _place() -> str:
    """Return an identifier of this boot of the kernel and this PID namespace; empty if the system hides them."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""
    return hashlib.sha256(f"{boot} {space}".encode()).hexdigest()[:8]


def _start(pid: int) -> int:
    """Return the start time of a process in clock ticks; -1 if it has ended, 0 if neither is known."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0
    # The second field is the program's name in parentheses, which may contain spaces and parentheses (proc(5)).
    state, *fields = text.rpartition(")")[2].split()
    # The 22nd field of the line; the first three are not in `fields`.
    return -1 if state in _DEAD else int(fields[18])
