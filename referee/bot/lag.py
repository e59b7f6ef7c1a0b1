"""The delays that the machine adds to a bot's time, as the kernel counts them: the referee's own lateness and the bot's
run-queue delay.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable

from referee.sandbox.reaper import descendants

MAX_TURN_NS = 2_000_000_000
"""The longest run-queue delay in one turn that a bot is not charged for."""
MAX_GAME_NS = 60_000_000_000
"""The same for a whole game. A machine that busy plays nothing worth rating, but its games must end."""
_REFRESH_NS = 1_000_000_000
"""Time for which a bot's list of threads is taken as unchanged."""
_MAX_THREADS = 64
POLL_INTERVAL_NS = 20_000_000
"""Interval between two readings that tell a running thread from a waiting one: the kernel counts from tick to tick."""
_PROC = "/proc"


class LagMeter:
    """The run-queue delay of the calling thread: how long it was runnable but not running, in nanoseconds."""

    def __init__(self) -> None:
        try:
            self._fd = os.open("/proc/thread-self/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self._fd = -1

    def read(self) -> int:
        """Return the delay so far; always 0 if the kernel does not count it."""
        if self._fd < 0:
            return 0
        return int(os.pread(self._fd, 64, 0).split(b" ", 2)[1])

    def close(self) -> None:
        """Close the descriptor."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


class QueueMeter:
    """The run-queue delay of a bot in a turn: the time for which a thread was runnable but not running.

    The thread with the longest delay counts. The delay is at most the length of the turn less the processor time that
    the bot's processes used in it (`spent`): delays that a bot's threads cause each other are charged to the bot.
    """

    def __init__(self, pid: int, spent: Callable[[], int]) -> None:
        self._pid, self._spent = pid, spent
        self._files: dict[str, int] = {}
        """Descriptors of the kernel's count for each thread, by path."""
        self._refreshed_ns = 0
        self._before: dict[int, int] = {}
        self._spent_ns = 0
        self._left_ns = MAX_GAME_NS
        self._ran: dict[str, int] = {}
        """Run time of each thread that was ready at the last reading."""

    def start(self) -> None:
        """Start another game, for which the limit of uncharged delay is reset."""
        self._left_ns = MAX_GAME_NS

    def begin(self) -> None:
        """Start the measurement of a turn."""
        now = time.monotonic_ns()
        if now - self._refreshed_ns >= _REFRESH_NS:
            self._refreshed_ns = now
            self._refresh()
        self._before = {file: self._read(file) for file in self._files.values()}
        self._spent_ns = self._spent()
        self._ran = {}

    def waited_ns(self, took_ns: int) -> int:
        """Return how many nanoseconds of the turn were run-queue delay that is not charged to the clock."""
        waits = [self._read(file) - before for file, before in self._before.items()]
        own_ns = took_ns - (self._spent() - self._spent_ns)
        return max(0, min(max(waits, default=0), own_ns, MAX_TURN_NS, self._left_ns))

    def is_in_line(self) -> bool:
        """Return whether a thread of the bot is runnable and has not run since it was last found runnable.

        The kernel counts a delay only when it has ended; until then this is the only sign of a delay. Call this again
        after `POLL_INTERVAL_NS`.
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
        """End the turn and subtract its uncharged delay from what is left of the game's limit."""
        self._left_ns -= waited_ns

    def _read(self, file: int, place: int = 1) -> int:
        try:
            return int(os.pread(file, 64, 0).split(b" ", 2)[place])
        except OSError:  # the thread has ended
            return 0

    def _refresh(self) -> None:
        found: list[str] = []
        for pid in (self._pid, *descendants(self._pid)):
            with contextlib.suppress(OSError):
                found += [f"{_PROC}/{pid}/task/{thread}/schedstat" for thread in os.listdir(f"{_PROC}/{pid}/task")]
        del found[_MAX_THREADS:]
        for path in self._files.keys() - found:
            os.close(self._files.pop(path))
        for path in found:
            if path not in self._files:
                with contextlib.suppress(OSError):
                    self._files[path] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def close(self) -> None:
        """Close the descriptors."""
        for file in self._files.values():
            os.close(file)
        self._files.clear()
        self._before.clear()
