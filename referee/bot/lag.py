"""What the machine adds to a bot's time, as the kernel counts it: the referee's own lateness, and the bot's waiting."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable

from referee.sandbox.reaper import descendants

MOST_TURN_NS = 2_000_000_000
"""The longest wait for a processor that a bot is not charged for, in one turn"""
MOST_GAME_NS = 60_000_000_000
"""and in one game: a machine that is that busy plays nothing worth rating, but its games come to an end."""
_REFRESH_NS = 1_000_000_000
"""How long the threads of a bot are taken to be the same."""
_MOST_THREADS = 64
LOOK_NS = 20_000_000
"""How far apart two looks are that tell a thread that runs from one that waits: the kernel counts from tick to tick."""
_PROC = "/proc"


class LagMeter:
    """How long this thread was runnable but did not run, from the kernel's own books (nanoseconds)."""

    def __init__(self) -> None:
        try:
            self._fd = os.open("/proc/thread-self/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self._fd = -1

    def read(self) -> int:
        """The count so far; 0 always where the kernel keeps none."""
        if self._fd < 0:
            return 0
        return int(os.pread(self._fd, 64, 0).split(b" ", 2)[1])

    def close(self) -> None:
        """Give its descriptor back."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


class QueueMeter:
    """How long a bot was kept waiting for a processor in a turn: one thread of it was ready to run and did not.

    Of all threads the longest wait counts, and never so much that less is left of the turn than the processor time
    that its processes used in it (`spent`): who competes with himself waits at his own cost.
    """

    def __init__(self, pid: int, spent: Callable[[], int]) -> None:
        self._pid, self._spent = pid, spent
        self._files: dict[str, int] = {}
        """The kernel's count for each thread, by its path."""
        self._refreshed_ns = 0
        self._before: dict[int, int] = {}
        self._spent_ns = 0
        self._left_ns = MOST_GAME_NS
        self._ran: dict[str, int] = {}
        """How long each thread that was ready to run had run when it was last looked at."""

    def start(self) -> None:
        """Another game."""
        self._left_ns = MOST_GAME_NS

    def begin(self) -> None:
        """It is to move from now on."""
        now = time.monotonic_ns()
        if now - self._refreshed_ns >= _REFRESH_NS:
            self._refreshed_ns = now
            self._refresh()
        self._before = {file: self._read(file) for file in self._files.values()}
        self._spent_ns = self._spent()
        self._ran = {}

    def waited_ns(self, took_ns: int) -> int:
        """How much of a turn that has taken so long it waited, as far as that is not charged."""
        waits = [self._read(file) - before for file, before in self._before.items()]
        own_ns = took_ns - (self._spent() - self._spent_ns)
        return max(0, min(max(waits, default=0), own_ns, MOST_TURN_NS, self._left_ns))

    def is_in_line(self) -> bool:
        """Whether a thread is ready to run and has not run since the last look, if it was ready then.

        The kernel counts a wait when it is over: until then only this tells of it. Look again after `LOOK_NS`.
        """
        before, self._ran = self._ran, {}
        for path, file in self._files.items():
            if self._is_ready(path):
                self._ran[path] = self._read(file, 0)
        return any(before.get(path, ran) == ran for path, ran in self._ran.items())

    def _is_ready(self, path: str) -> bool:
        try:
            with open(f"{path.removesuffix('schedstat')}stat", "rb") as file:
                return file.read(512).rpartition(b") ")[2][:1] == b"R"
        except OSError:
            return False

    def end(self, waited_ns: int) -> None:
        """The turn is over, and so much of it was not charged."""
        self._left_ns -= waited_ns

    def _read(self, file: int, place: int = 1) -> int:
        try:
            return int(os.pread(file, 64, 0).split(b" ", 2)[place])
        except OSError:  # it has ended
            return 0

    def _refresh(self) -> None:
        found: list[str] = []
        for pid in (self._pid, *descendants(self._pid)):
            with contextlib.suppress(OSError):
                found += [f"{_PROC}/{pid}/task/{thread}/schedstat" for thread in os.listdir(f"{_PROC}/{pid}/task")]
        del found[_MOST_THREADS:]
        for path in self._files.keys() - found:
            os.close(self._files.pop(path))
        for path in found:
            if path not in self._files:
                with contextlib.suppress(OSError):
                    self._files[path] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def close(self) -> None:
        """Give the descriptors back."""
        for file in self._files.values():
            os.close(file)
        self._files.clear()
        self._before.clear()
