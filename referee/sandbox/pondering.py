"""Limit the processor time that a bot uses while its opponent is to move (pondering control).

A bot that uses no processor time while it waits is left alone. A bot that has used more than it is allowed
(`PONDER_GRACE_NS`, `PONDER_SHARE`) is suspended in every later wait, with all its processes: by its control group,
or else by signals.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time

from referee.game.spec import Pondering
from referee.sandbox.launch import BotCgroup
from referee.sandbox.reaper import descendants, signal_groups, stop_threads, stop_tree

PONDER_GRACE_NS = 20_000_000
"""Processor time that a bot may use out of turn in a game, for tidying up, before it is suspended while it waits."""
PONDER_SHARE = 50
"""In addition, a bot may use one part in this number of the time for which it has waited."""
MIN_MEASURED_NS = 1_000_000
"""Shorter turns and waits are not worth a system call."""
_REFRESH_NS = 100_000_000
"""Time for which the list of a bot's processes is reused."""


class PonderLimiter:
    """Measures a bot's processor time and suspends its processes, between its turns and between its games.

    `used_ns`: processor time used out of turn in this game; turns and waits of less than a millisecond are not counted.
    """

    def __init__(self, pid: int, cgroup: BotCgroup | None) -> None:
        self.used_ns = 0
        self.is_frozen = False
        self._pid, self._cgroup = pid, cgroup
        self._rule: Pondering = "allowed"
        self._has_pondered = False
        self._cores: frozenset[int] = frozenset()
        """Cores to which its threads are bound."""
        self._is_waiting = False
        self._since_ns = 0
        """Start of the last wait on the monotonic clock."""
        self._waited_ns = 0
        self._spent_ns = -1
        """Processor time at the start of the wait, or at its first check; -1 = not measured."""
        self._clocks: dict[int, int] = {}
        """Last known processor time of each process, including those that have ended."""
        self._refreshed_ns = 0
        self._handles: dict[int, int] = {}
        """Handles of the processes suspended by signals; unlike process ids they are never reused."""

    def start_game(self, rule: Pondering) -> None:
        """Start a game; the bot waits until its first turn."""
        self.resume()
        self._rule, self.used_ns = rule, 0
        # As after a turn that is long enough to be measured: what the bot uses before its first turn counts too.
        self.begin_wait(time.monotonic_ns(), MIN_MEASURED_NS)
        # `begin_wait` has counted the time since the last game as a wait, which would raise the allowance.
        self._waited_ns = 0

    def begin_wait(self, now_ns: int, turn_ns: int) -> None:
        """Start a wait after a turn of `turn_ns`.

        Called at every move, so short turns and waits make no system call.
        """
        wait_ns = now_ns - turn_ns - self._since_ns
        self._since_ns, self._is_waiting = now_ns, True
        self._waited_ns += wait_ns
        if self._has_pondered and self._rule == "frozen":
            self.freeze()  # before anything else, since the bot is about to run on this core
        if turn_ns >= MIN_MEASURED_NS or wait_ns >= MIN_MEASURED_NS:
            self._spent_ns = self.cpu_time_ns()

    def end_wait(self) -> None:
        """End the wait before the bot's turn or before another message to it; resume a suspended bot."""
        self._is_waiting = False
        # Before the bot is resumed: what it uses from then on belongs to its turn.
        if self._spent_ns >= 0:
            self.used_ns += self.cpu_time_ns() - self._spent_ns
            self._spent_ns = -1
            self._has_pondered = self._has_pondered or self.used_ns > self._allowed_ns
        if self.is_frozen:
            self.resume()

    def check(self) -> None:
        """Suspend the bot if it has used too much processor time in the present wait."""
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
        """Suspend all processes of the bot until `resume`."""
        self.is_frozen = True
        if self._cgroup and self._cgroup.freeze(True):
            return
        self._signal(signal.SIGSTOP)  # processes that are known already, at once; finding others takes longer
        for pid in stop_tree(self._pid) - self._handles.keys():
            with contextlib.suppress(ProcessLookupError):
                self._handles[pid] = os.pidfd_open(pid)

    def resume(self) -> None:
        """Resume all processes of the bot."""
        if self.is_frozen:
            if not (self._cgroup and self._cgroup.freeze(False)):
                signal_groups(self._handles, signal.SIGCONT)  # a child of an ending process was not listed
                self._signal(signal.SIGCONT)
            self.is_frozen = False

    def close(self) -> None:
        """Close the handles of suspended processes."""
        for handle in self._handles.values():
            os.close(handle)
        self._handles.clear()

    def _signal(self, number: int) -> None:
        """Send a signal to all processes that were suspended before, and discard those that have ended."""
        for pid, handle in list(self._handles.items()):
            try:
                signal.pidfd_send_signal(handle, number)
                if number == signal.SIGSTOP:
                    stop_threads(pid)
            except ProcessLookupError:
                os.close(self._handles.pop(pid))
            except PermissionError:  # the process runs as another user now, and only root may stop it
                continue

    def pin(self, cores: frozenset[int]) -> None:
        """Bind all threads of the bot to these cores; without cores, remove the binding."""
        if cores == self._cores:
            return
        self._cores = cores
        cores = cores or frozenset(os.sched_getaffinity(0))
        # The kernel binds single threads; threads and processes that start later inherit the binding.
        for pid in (self._pid, *descendants(self._pid)):
            with contextlib.suppress(OSError):
                for thread in os.listdir(f"/proc/{pid}/task"):
                    with contextlib.suppress(OSError):
                        os.sched_setaffinity(int(thread), cores)

    def cpu_time_ns(self) -> int:
        """Return the processor time of all processes of the bot so far in nanoseconds, ended ones included."""
        now = time.monotonic_ns()
        if now - self._refreshed_ns >= _REFRESH_NS:
            self._refreshed_ns = now
            for pid in (self._pid, *descendants(self._pid)):
                self._clocks.setdefault(pid, 0)
        clocks = self._clocks
        for pid in clocks:
            with contextlib.suppress(OSError):
                # An ended process keeps its last value: the kernel then knows its clock no more.
                clocks[pid] = time.clock_gettime_ns((~pid << 3) | 2)  # its CPU clock, see clock_getcpuclockid(3)
        return sum(clocks.values())
