"""Calls functions that would block this process, such as those of the rules, in a process of their own."""

from __future__ import annotations

import contextlib
import os
import resource
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import ParamSpec, TypeVar

from referee.machine.pool import SlotPool

P = ParamSpec("P")
T = TypeVar("T")


class OffloadProcess:
    """A process to call functions in, from one thread at a time. It starts on first use, and again after `close`."""

    def __init__(self) -> None:
        self._pool: SlotPool | None = None

    @property
    def is_open(self) -> bool:
        """True while the process exists."""
        return self._pool is not None

    def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a module-level function in the process and wait for its result. Raises JobError, WorkerLostError."""
        if self._pool is None:
            self._pool = SlotPool(1)
        return self._pool.submit(function, *args, **kwargs).result()

    def interrupt(self) -> None:
        """Cancel the current call, including bots that it runs. Thread-safe."""
        if pool := self._pool:
            pool.abort()

    def close(self) -> None:
        """End the process after its current call."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None


REQUEST_NICENESS = 4
"""Nice value of what a person waits for. Where bots use all cores, it gets a quarter of one core: a first answer, with
the start of Python and of the bot, takes 4 s (nice 10: 14 s; SCHED_IDLE: minutes). docs/reports/2026-11-30-priority.md
"""


def share_with_games() -> None:
    """Give this process a lower priority than games, but one that makes progress while bots use all cores."""
    os.setpriority(os.PRIO_PROCESS, 0, max(REQUEST_NICENESS, os.getpriority(os.PRIO_PROCESS, 0)))


def yield_to_games() -> None:
    """Give this process the lowest priority: it hardly runs while bots use all cores."""
    os.setpriority(os.PRIO_PROCESS, 0, 19)
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of a call: processor seconds, and bytes of memory beyond those that the process has at the start."""

    cpu_s: int
    memory_bytes: int


def call_bounded(bounds: Bounds, function: Callable[..., T], *args: object) -> T:
    """Call a module-level function in its own process, which ends with the call, or when it exceeds the bounds.

    Raises JobError, and WorkerLostError if the process was ended.
    """
    process = OffloadProcess()
    try:
        return process.call(_bounded, bounds, function, args)
    finally:
        process.close()


def _bounded(bounds: Bounds, function: Callable[..., T], args: tuple[object, ...]) -> T:
    """Limit this process, and call the function."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    # RLIMIT_CPU counts from the start of the process, which has imported the rules already.
    cpu_s = ceil(used.ru_utime + used.ru_stime) + bounds.cpu_s
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[5])  # pages of data and stack
    data_bytes = pages * resource.getpagesize() + bounds.memory_bytes
    for limit, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, cpu_s),
        # The heap and, since Linux 4.7, private mappings (setrlimit(2)).
        (resource.RLIMIT_DATA, data_bytes),
    ):
        resource.setrlimit(limit, (value, value))
    return function(*args)
