"""Watch the memory and the processes of running bots, and kill those that exceed their limits.

If the bot has a control group, the kernel enforces the limits, and the watchdog only kills the rest of the bot. Without
a control group the watchdog measures by itself. A check reads several files in `/proc` for each process, so checks are
rare: code that waits for a bot requests a check now and then.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from referee.sandbox.kernel_memory import held_by_descriptors, held_by_network, held_by_processes
from referee.sandbox.launch import BotCgroup
from referee.sandbox.pondering import PonderLimiter
from referee.sandbox.reaper import children, descendants, kill_descendants, kill_tree

INTERVAL_NS = 90_000_000
"""Slightly less than a single wait for a bot, so that every such wait ends with a check."""
_THOROUGH_NS = 450_000_000
"""Time for which values that are slow to measure, and slow to grow, are reused."""
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Census:
    """Resources that a process and its descendants use at one moment."""

    memory_bytes: int = 0
    threads: int = 0
    kernel_bytes: int = 0
    """Part of the memory that is the kernel's: the maximum buffers of the descriptors."""


@dataclass(slots=True)
class WatchedTree:
    """A watched process tree: its root, its limits (0 = none), and its peak use of resources."""

    pid: int
    memory_bytes: int
    processes: int
    overhead: int = 0
    """Number of processes of the tree that belong to the sandbox itself."""
    scratch: tuple[str, ...] = ()
    """Paths of the bot's memory file systems as the root's children see them; files on them count as memory."""
    cgroup: BotCgroup | None = None
    """Control group that measures the tree, if there is one."""
    ponder_limiter: PonderLimiter | None = None
    """Limiter of the bot's processor time out of turn."""
    is_supervised: bool = False
    """True if the root is a supervisor, whose memory and thread are not the bot's."""
    peak: Census = field(default_factory=Census)
    excess: str = ""
    """`memory` or `processes` if the bot was killed for exceeding that limit."""
    _slow_bytes: int = 0
    """Last result of `_seldom`."""
    _slow_ns: int = 0

    @property
    def has_ended(self) -> bool:
        """True if nothing but the sandbox itself is left of the tree: that ends too when its processes get to run."""
        return sum(map(_has_memory, self._processes())) <= self.overhead

    def check(self) -> None:
        """Measure the tree, and kill all of it if it exceeds a limit."""
        if self.cgroup:
            # At the memory limit of a group the kernel kills one of its processes: kill the rest of the bot too. The
            # group does not count the buffers of connections.
            if self.cgroup.excess() == "memory" or 0 < self.memory_bytes < self._seldom(self._held_by_network):
                self.excess = "memory"
                self._kill()
            return
        census = take_census(self._processes())
        slow_bytes = self._written() + self._seldom(self._count_slowly)
        census = replace(census, memory_bytes=census.memory_bytes + slow_bytes)
        threads = census.threads - self.overhead
        are_many = 0 < self.processes < threads  # measuring all of them exactly takes too long
        if self.memory_bytes and census.memory_bytes > self.memory_bytes and not are_many:
            # Memory shared by forked processes was counted for each: measure again exactly, which is slow.
            census = replace(census, memory_bytes=_shared_out(self._processes()) + census.kernel_bytes + slow_bytes)
        self.peak = Census(max(self.peak.memory_bytes, census.memory_bytes), max(self.peak.threads, threads))
        if are_many:
            self.excess = "processes"
        elif self.memory_bytes and census.memory_bytes > self.memory_bytes:
            self.excess = "memory"
        else:
            return
        self._kill()

    def _kill(self) -> None:
        """Kill the bot. A supervisor is not killed: it ends by itself once its bot has ended."""
        if self.is_supervised:
            kill_descendants(self.pid)
        else:
            kill_tree(self.pid)

    def _processes(self) -> tuple[int, ...]:
        """List the processes of the bot, and those of the sandbox around it except the supervisor."""
        pids = (*(() if self.is_supervised else (self.pid,)), *descendants(self.pid))
        return tuple(map(_living_thread, pids))

    def _seldom(self, measure: Callable[[], int]) -> int:
        """Return what `measure` counts, at intervals: between them the last count."""
        now = time.monotonic_ns()
        if now - self._slow_ns >= _THOROUGH_NS:
            self._slow_bytes = measure()
            # From the end of the measurement, which may itself take long on a busy machine.
            self._slow_ns = time.monotonic_ns()
        return self._slow_bytes

    def _count_slowly(self) -> int:
        """Measure the memory of page tables, mappings, files watched by epoll, and connections."""
        return held_by_processes(self._processes()) + self._held_by_network()

    def _held_by_network(self) -> int:
        """Measure the memory of connections in the bot's network namespaces."""
        return sum(map(held_by_network, children(self.pid))) if self.scratch else 0

    def _written(self) -> int:
        """Measure the files on the bot's memory file systems, with about a kilobyte of kernel memory for each."""
        total = 0
        for child in children(self.pid) if self.scratch else ():
            for place in self.scratch:
                with contextlib.suppress(OSError):
                    path = f"/proc/{child}/root{place}"
                    if os.stat(path).st_dev == _device(place):  # the bot's own file systems are not mounted yet
                        continue
                    disk = os.statvfs(path)
                    # An empty file has no blocks, but takes an inode of the kernel's memory.
                    total += (disk.f_blocks - disk.f_bfree) * disk.f_frsize + (disk.f_files - disk.f_ffree) * 1024
        return total


class Watchdog:
    """Checks all watched trees, at most once in `INTERVAL_NS`."""

    def __init__(self) -> None:
        self._watched: list[WatchedTree] = []
        self.next_ns = 0
        """Time of the next check on the monotonic clock."""

    def watch(self, tree: WatchedTree) -> None:
        """Start watching the tree of processes of a bot."""
        self._watched.append(tree)

    def forget(self, tree: WatchedTree) -> None:
        """Stop watching the tree of processes of a bot."""
        with contextlib.suppress(ValueError):
            self._watched.remove(tree)

    def check_all(self) -> None:
        """Check all trees, unless they were checked a moment ago."""
        now = time.monotonic_ns()
        if now < self.next_ns:
            return
        for tree in self._watched:
            if not tree.excess:
                tree.check()
                if tree.ponder_limiter:
                    tree.ponder_limiter.check()
        # From the end of the check: on a busy machine checks must not follow each other without a pause.
        self.next_ns = time.monotonic_ns() + INTERVAL_NS


def _living_thread(pid: int) -> int:
    """Return the id of a thread through which `/proc` shows the memory of a process: its own id as a rule.

    If the first thread has ended before the others, the files of the process show no memory and no open files.
    """
    with contextlib.suppress(OSError):
        if not _has_memory(pid):
            return next(filter(_has_memory, map(int, os.listdir(f"/proc/{pid}/task"))), pid)
    return pid


def _has_memory(thread: int) -> bool:
    with contextlib.suppress(OSError), open(f"/proc/{thread}/statm", "rb") as file:
        return not file.read().startswith(b"0 ")
    return False


def take_census(pids: Iterable[int]) -> Census:
    """Measure the resident memory of processes and the maximum buffers of their descriptors, and count their threads.

    Memory that several processes share counts once for each of them.
    """
    resident = threads = kernel = 0
    for pid in pids:
        with contextlib.suppress(OSError, ValueError, IndexError):
            with open(f"/proc/{pid}/statm", "rb") as file:
                # The second field of statm is the resident memory in pages.
                resident += int(file.read().split()[1]) * _PAGE
            # The folder has a link for each thread, its own `.` and the one in its parent: counted without listing it.
            threads += os.stat(f"/proc/{pid}/task").st_nlink - 2
            kernel += held_by_descriptors(pid)
    return Census(resident + kernel, threads, kernel)


def _device(place: str) -> int | None:
    """Return the number of the file system at this path as this process sees it; None if the path does not exist."""
    try:
        return os.stat(place).st_dev
    except OSError:
        return None


def _shared_out(pids: Iterable[int]) -> int:
    """Sum the resident memory of processes. Shared pages count once, except in a process whose share is unreadable."""
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
                for line in file:
                    # Proportional set size: a page that n processes share counts 1/n in each.
                    if line.startswith(b"Pss:"):
                        total += int(line.split()[1]) * 1024
                        break
        except OSError:
            with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/statm", "rb") as file:
                total += int(file.read().split()[1]) * _PAGE
    return total
