"""A bot that is not to move: how much of the processor it uses meanwhile, and how it is kept from it.

A bot that waits uses nothing, so nothing is done to it. One that was seen to use more than a moment is stopped, with
all its processes, whenever it rests: by its control group where it has one, else by signals.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time

from referee.sandbox.launch import BotCgroup
from referee.sandbox.reaper import descendants, stop_threads, stop_tree
from referee.spec import Pondering

PONDER_GRACE_NS = 20_000_000
"""Processor time that a bot may use out of turn in a game, for tidying up say, before it is stopped when it rests."""
PONDER_SHARE = 50
"""And one part in so many of the time it has rested."""
MIN_MEASURED_NS = 1_000_000
"""What took less is not worth asking the kernel for."""
_REFRESH_NS = 100_000_000
"""How long the processes of a bot are taken to be the same."""


class PonderLimiter:
    """The rest of one process with its descendants, between its turns and between its games.

    `used_ns`: processor time used out of turn in this game, as far as turns of a millisecond and more go.
    """

    def __init__(self, pid: int, cgroup: BotCgroup | None) -> None:
        self.used_ns = 0
        self.is_frozen = False
        self._pid, self._cgroup = pid, cgroup
        self._rule: Pondering = "allowed"
        self._has_pondered = False
        self._cores: frozenset[int] = frozenset()
        """Where it was pinned to."""
        self._is_waiting = False
        self._since_ns = 0
        """When it began to rest the last time, on the monotonic clock."""
        self._waited_ns = 0
        self._spent_ns = -1
        """The processor time it had used by then, or when that was first asked for; -1 = nobody has."""
        self._clocks: dict[int, int] = {}
        """What each process was last seen to have used, also of those that are gone."""
        self._refreshed_ns = 0
        self._handles: dict[int, int] = {}
        """Those that were stopped by signals, by handles that never come to mean another process."""

    def start_game(self, rule: Pondering) -> None:
        """A game begins; it rests until it is first to move."""
        self.resume()
        self._rule, self.used_ns = rule, 0
        self.begin_wait(time.monotonic_ns(), MIN_MEASURED_NS)
        self._waited_ns = 0

    def begin_wait(self, now_ns: int, turn_ns: int) -> None:
        """Its turn is over, and took so long. Called at every move: short turns and rests ask no kernel."""
        wait_ns = now_ns - turn_ns - self._since_ns
        self._since_ns, self._is_waiting = now_ns, True
        self._waited_ns += wait_ns
        if self._has_pondered and self._rule == "frozen":
            self.freeze()  # first of all: on this core it is about to go on
        if turn_ns >= MIN_MEASURED_NS or wait_ns >= MIN_MEASURED_NS:
            self._spent_ns = self.cpu_time_ns()

    def end_wait(self) -> None:
        """It is to move, or to hear something: it goes on."""
        self._is_waiting = False
        if self._spent_ns >= 0:
            self.used_ns += self.cpu_time_ns() - self._spent_ns
            self._spent_ns = -1
            self._has_pondered = self._has_pondered or self.used_ns > self._allowed_ns
        if self.is_frozen:
            self.resume()

    def check(self) -> None:
        """Stop it when it has used more than a moment of a rest that is not over."""
        if not self._is_waiting or self.is_frozen:
            return
        spent = self.cpu_time_ns()
        if self._spent_ns < 0:
            self._spent_ns = spent
        elif self._rule == "frozen" and self.used_ns + spent - self._spent_ns > self._allowed_ns:
            self._has_pondered = True
            self.freeze()

    @property
    def _allowed_ns(self) -> int:
        return PONDER_GRACE_NS + self._waited_ns // PONDER_SHARE

    def freeze(self) -> None:
        """Stop all its processes until it is woken."""
        self.is_frozen = True
        if self._cgroup and self._cgroup.freeze(True):
            return
        self._signal(signal.SIGSTOP)  # those known at once; to look for others takes longer
        for pid in stop_tree(self._pid) - self._handles.keys():
            with contextlib.suppress(ProcessLookupError):
                self._handles[pid] = os.pidfd_open(pid)

    def resume(self) -> None:
        """Let all its processes go on."""
        if self.is_frozen:
            if not (self._cgroup and self._cgroup.freeze(False)):
                self._signal(signal.SIGCONT)
            self.is_frozen = False

    def close(self) -> None:
        """Give the handles back."""
        for handle in self._handles.values():
            os.close(handle)
        self._handles.clear()

    def _signal(self, number: int) -> None:
        """Send a signal to all that were stopped before, and forget those that are gone."""
        for pid, handle in list(self._handles.items()):
            try:
                signal.pidfd_send_signal(handle, number)
                if number == signal.SIGSTOP:
                    stop_threads(pid)
            except ProcessLookupError:
                os.close(self._handles.pop(pid))
            except PermissionError:  # it has become somebody else; who may stop it is root's to say
                continue

    def pin(self, cores: frozenset[int]) -> None:
        """From now on all its threads run on these cores; without any, wherever they like."""
        if cores == self._cores:
            return
        self._cores = cores
        cores = cores or frozenset(os.sched_getaffinity(0))
        for pid in (self._pid, *descendants(self._pid)):
            with contextlib.suppress(OSError):
                for thread in os.listdir(f"/proc/{pid}/task"):
                    with contextlib.suppress(OSError):
                        os.sched_setaffinity(int(thread), cores)

    def cpu_time_ns(self) -> int:
        """The processor time of all its processes that were ever seen, in nanoseconds."""
        now = time.monotonic_ns()
        if now - self._refreshed_ns >= _REFRESH_NS:
            self._refreshed_ns = now
            for pid in (self._pid, *descendants(self._pid)):
                self._clocks.setdefault(pid, 0)
        clocks = self._clocks
        for pid in clocks:
            with contextlib.suppress(OSError):
                clocks[pid] = time.clock_gettime_ns((~pid << 3) | 2)  # its clock, see clock_getcpuclockid(3)
        return sum(clocks.values())
