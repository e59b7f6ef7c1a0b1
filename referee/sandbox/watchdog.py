"""Keeps an eye on the memory and the processes of running bots, and kills what is too big.

Where a control group counts, it only finishes what the kernel began; else it counts itself. A look costs some reads of
`/proc` for each process, so looks are rare: whoever waits for a bot asks for one at times.
"""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass, field

from referee.sandbox.launch import Cell
from referee.sandbox.reaper import children, descendants, kill_tree

INTERVAL_NS = 90_000_000
"""A little less than a single wait for a bot, so that every such wait ends with a look."""
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Census:
    """What a process and its descendants are and hold at one moment."""

    memory_bytes: int = 0
    threads: int = 0


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
    cell: Cell | None = None
    """The control group that does the counting, if there is one."""
    peak: Census = field(default_factory=Census)
    excess: str = ""
    """`memory` or `processes` once it was killed for having too much of it."""

    def look(self) -> None:
        """Count, and kill the whole tree when it is over a bound."""
        if self.cell:
            if self.cell.excess() == "memory":
                # The kernel kills one process of a group that is too big. A bot is not half dead.
                self.excess = "memory"
                kill_tree(self.pid)
            return
        census = take_census(self.pid)
        written = self._written()
        census = Census(census.memory_bytes + written, census.threads)
        if self.memory_bytes and census.memory_bytes > self.memory_bytes:
            # What forked processes share was counted for each of them: count again, exactly, which is slow.
            census = Census(_shared_out(self.pid) + written, census.threads)
        threads = census.threads - self.overhead
        self.peak = Census(max(self.peak.memory_bytes, census.memory_bytes), max(self.peak.threads, threads))
        if self.memory_bytes and census.memory_bytes > self.memory_bytes:
            self.excess = "memory"
        elif self.processes and threads > self.processes:
            self.excess = "processes"
        else:
            return
        kill_tree(self.pid)

    def _written(self) -> int:
        """What is on its memory disks, with about a kilobyte of the kernel's for each file."""
        total = 0
        for child in children(self.pid) if self.scratch else ():
            for place in self.scratch:
                with contextlib.suppress(OSError):
                    disk = os.statvfs(f"/proc/{child}/root{place}")
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
        self.next_ns = time.monotonic_ns() + INTERVAL_NS


def take_census(pid: int) -> Census:
    """The resident memory and the threads of a process and its descendants; memory they share counts for each."""
    memory = threads = 0
    for one in (pid, *descendants(pid)):
        with contextlib.suppress(OSError, ValueError, IndexError):
            with open(f"/proc/{one}/statm", "rb") as file:
                memory += int(file.read().split()[1]) * _PAGE
            threads += os.stat(f"/proc/{one}/task").st_nlink - 2
    return Census(memory, threads)


def _shared_out(pid: int) -> int:
    """The memory of a tree with every shared page counted once in all; resident memory where that cannot be read."""
    total = 0
    for one in (pid, *descendants(pid)):
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
