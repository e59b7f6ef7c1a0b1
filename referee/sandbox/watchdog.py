"""Keeps an eye on the memory and the processes of running bots, and kills what is too big.

Where a control group counts, it only finishes what the kernel began; else it counts itself. A look costs some reads of
`/proc` for each process, so looks are rare: whoever waits for a bot asks for one at times.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from referee.sandbox.kernel_memory import held_by_descriptors, held_by_mappings, held_by_network
from referee.sandbox.launch import BotCgroup
from referee.sandbox.pondering import PonderLimiter
from referee.sandbox.reaper import children, descendants, kill_descendants, kill_tree

INTERVAL_NS = 90_000_000
"""A little less than a single wait for a bot, so that every such wait ends with a look."""
_THOROUGH_NS = 450_000_000
"""How long what is slow to count, and slow to grow, is taken to be as it was."""
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Census:
    """What a process and its descendants are and hold at one moment."""

    memory_bytes: int = 0
    threads: int = 0
    kernel_bytes: int = 0
    """The part of the memory that is the kernel's: what the descriptors can hold."""


@dataclass(slots=True)
class Watched:
    """One tree under watch: its root, its bounds (0 = none), and the most that was ever seen."""

    pid: int
    memory_bytes: int
    processes: int
    overhead: int = 0
    """How many processes of the tree are the sandbox's own."""
    scratch: tuple[str, ...] = ()
    """Memory disks of its own, as its first child sees them: what is written there counts as memory."""
    cgroup: BotCgroup | None = None
    """The control group that does the counting, if there is one."""
    ponder_limiter: PonderLimiter | None = None
    """What it does while it is not its turn."""
    is_supervised: bool = False
    """Whether the root of the tree is a supervisor, whose memory and thread are not the bot's."""
    peak: Census = field(default_factory=Census)
    excess: str = ""
    """`memory` or `processes` once it was killed for having too much of it."""
    _slow_bytes: int = 0
    """What was found when mappings and connections were last counted."""
    _slow_ns: int = 0

    def look(self) -> None:
        """Count, and kill the whole tree when it is over a bound."""
        if self.cgroup:
            if self.cgroup.excess() == "memory":
                # The kernel kills one process of a group that is too big. A bot is not half dead.
                self.excess = "memory"
                self._kill()
            return
        census = take_census(self._processes())
        beside = self._written() + self._count_slowly()
        census = replace(census, memory_bytes=census.memory_bytes + beside)
        threads = census.threads - self.overhead
        are_many = 0 < self.processes < threads  # the memory of so many is theirs, and takes too long to count exactly
        if self.memory_bytes and census.memory_bytes > self.memory_bytes and not are_many:
            # What forked processes share was counted for each of them: count again, exactly, which is slow.
            census = replace(census, memory_bytes=_shared_out(self._processes()) + census.kernel_bytes + beside)
        self.peak = Census(max(self.peak.memory_bytes, census.memory_bytes), max(self.peak.threads, threads))
        if are_many:
            self.excess = "processes"
        elif self.memory_bytes and census.memory_bytes > self.memory_bytes:
            self.excess = "memory"
        else:
            return
        self._kill()

    def _kill(self) -> None:
        """Kill the bot; its supervisor sees that, and ends."""
        if self.is_supervised:
            kill_descendants(self.pid)
        else:
            kill_tree(self.pid)

    def _processes(self) -> tuple[int, ...]:
        """The processes of the bot, and those of the sandbox around it that are not its supervisor."""
        return (*(() if self.is_supervised else (self.pid,)), *descendants(self.pid))

    def _count_slowly(self) -> int:
        """Page tables, mappings, connections in a network of its own."""
        now = time.monotonic_ns()
        if now - self._slow_ns >= _THOROUGH_NS:
            self._slow_bytes = 0
            for one in self._processes():
                with contextlib.suppress(OSError, ValueError):
                    self._slow_bytes += held_by_mappings(one)
            for child in children(self.pid) if self.scratch else ():
                self._slow_bytes += held_by_network(child)
            self._slow_ns = time.monotonic_ns()
        return self._slow_bytes

    def _written(self) -> int:
        """What is on its memory disks, with about a kilobyte of the kernel's for each file."""
        total = 0
        for child in children(self.pid) if self.scratch else ():
            for place in self.scratch:
                with contextlib.suppress(OSError):
                    found = f"/proc/{child}/root{place}"
                    if os.stat(found).st_dev == _device(place):  # it has not been given its own disks yet
                        continue
                    disk = os.statvfs(found)
                    total += (disk.f_blocks - disk.f_bfree) * disk.f_frsize + (disk.f_files - disk.f_ffree) * 1024
        return total


class Watchdog:
    """Looks at every watched tree, at most once in `INTERVAL_NS`."""

    def __init__(self) -> None:
        self._watched: list[Watched] = []
        self.next_ns = 0
        """When the next look is due, on the monotonic clock."""

    def watch(self, tree: Watched) -> None:
        """Begin to watch."""
        self._watched.append(tree)

    def forget(self, tree: Watched) -> None:
        """Watch no more."""
        with contextlib.suppress(ValueError):
            self._watched.remove(tree)

    def look(self) -> None:
        """Look at all trees, unless that was done a moment ago."""
        now = time.monotonic_ns()
        if now < self.next_ns:
            return
        for tree in self._watched:
            if not tree.excess:
                tree.look()
                if tree.ponder_limiter:
                    tree.ponder_limiter.check()
        self.next_ns = time.monotonic_ns() + INTERVAL_NS


def take_census(pids: Iterable[int]) -> Census:
    """The resident memory of processes, with what their descriptors can hold, and their threads.

    Memory they share counts for each.
    """
    resident = threads = kernel = 0
    for one in pids:
        with contextlib.suppress(OSError, ValueError, IndexError):
            with open(f"/proc/{one}/statm", "rb") as file:
                resident += int(file.read().split()[1]) * _PAGE
            threads += os.stat(f"/proc/{one}/task").st_nlink - 2
            kernel += held_by_descriptors(one)
    return Census(resident + kernel, threads, kernel)


def _device(place: str) -> int | None:
    """The number of the disk that this process has there, if it has one."""
    try:
        return os.stat(place).st_dev
    except OSError:
        return None


def _shared_out(pids: Iterable[int]) -> int:
    """The memory of processes, every page they share counted once in all; resident memory where that cannot be read."""
    total = 0
    for one in pids:
        try:
            with open(f"/proc/{one}/smaps_rollup", "rb") as file:
                for line in file:
                    if line.startswith(b"Pss:"):
                        total += int(line.split()[1]) * 1024
                        break
        except OSError:
            with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{one}/statm", "rb") as file:
                total += int(file.read().split()[1]) * _PAGE
    return total
