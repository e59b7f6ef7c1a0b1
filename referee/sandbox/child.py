"""A confined process with three pipes: spawned, watched, killed with all its descendants, reaped."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import resource
import select
import signal
import subprocess

from referee.game.spec import BotLimits
from referee.sandbox.launch import FILTER, Launch
from referee.sandbox.pondering import PonderLimiter
from referee.sandbox.reaper import KILL_TIMEOUT_S, kill_descendants, kill_tree
from referee.sandbox.watchdog import Watchdog, WatchedTree

_PR_SET_THP_DISABLE = 41
_NEARLY = 0.9
"""Share of its memory limit above which the death of a process is attributed to the limit."""
_END_TIMEOUT_MS = 10_000
"""Longest wait for the sandbox of a bot that has ended: it has nothing more to do than to end too."""
_ROUGHLY = 2**24
"""Error of resident memory in bytes: the kernel counts up to 32 pages per core late."""


class Child:
    """A running process. `stdin`, `stdout` and `stderr` are the referee's non-blocking ends of its pipes.

    `pid_fd` becomes readable when the process ends. `ponder_limiter` limits its processor time while it is not to move.
    Raises OSError if the command cannot be executed.
    """

    def __init__(self, launch: Launch, limits: BotLimits, watchdog: Watchdog) -> None:
        self._launch = launch
        self._process = process = _spawn(launch)
        assert process.stdin
        assert process.stdout
        assert process.stderr
        self.pid = process.pid
        self.stdin, self.stdout, self.stderr = process.stdin.fileno(), process.stdout.fileno(), process.stderr.fileno()
        for descriptor in (self.stdin, self.stdout, self.stderr):
            os.set_blocking(descriptor, False)
        try:
            # Unlike a process id, this descriptor never stands for another process, and one poll waits for it and the
            # pipes.
            self.pid_fd = os.pidfd_open(process.pid)
        except OSError:
            with process:
                process.kill()
            if launch.cgroup:
                launch.cgroup.close()
            raise
        self._resident = 0
        self._limits = limits
        self._watchdog = watchdog
        self.ponder_limiter = PonderLimiter(process.pid, launch.cgroup)
        self._watched = WatchedTree(
            process.pid,
            limits.memory_bytes,
            limits.processes,
            launch.overhead,
            launch.scratch,
            launch.cgroup,
            self.ponder_limiter,
            launch.is_supervised,
        )
        watchdog.watch(self._watched)

    def exits_within(self, ms: float) -> bool:
        """Wait up to `ms` milliseconds for the process to end, and return whether it has ended. Do not reap it, so that
        its process id is not reused.
        """
        poll = select.poll()
        poll.register(self.pid_fd, select.POLLIN)
        return bool(poll.poll(ms))

    def ends_within(self, ms: float) -> bool:
        """Wait as `exits_within`, but give the sandbox of a bot that has ended the time it needs on a busy machine."""
        return self.exits_within(ms) or (self._watched.has_ended and self.exits_within(_END_TIMEOUT_MS))

    @property
    def has_exited(self) -> bool:
        """True if the process has ended."""
        return self.exits_within(0)

    def check_limits(self) -> None:
        """Check memory and processes of all bots of this slot, unless they were checked a moment ago."""
        self._watchdog.check_all()

    def peak_bytes(self) -> int:
        """Return the peak memory use of the process tree, measured once more if it still runs."""
        if self._launch.cgroup:
            return self._launch.cgroup.peak_bytes()
        if not (self._watched.excess or self.has_exited):
            self._watched.check()
        return self._watched.peak.memory_bytes

    def excess(self) -> str:
        """Return the limit that the process tree exceeded, `memory` or `processes`; an empty text if none."""
        if self._launch.cgroup:
            return self._watched.excess or self._launch.cgroup.excess()
        watched, limits = self._watched, self._limits
        if not (watched.excess or self.has_exited):
            watched.check()
        if watched.excess:
            return watched.excess
        # At the limit the kernel refuses a further thread, and many programs end for that reason.
        if limits.processes and watched.peak.threads >= limits.processes:
            return "processes"
        if limits.memory_bytes and self._most_resident() >= _NEARLY * limits.memory_bytes:
            return "memory"
        return ""

    def _most_resident(self) -> int:
        """Return the greater of two peaks: the measured one of the tree, and the kernel's for its largest process."""
        if self.has_exited:
            self._reap()
        # The kernel's peak is not exact, and starts at the memory of this process, which spawned the bot.
        is_own = self._resident <= resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 + _ROUGHLY
        return max(self._watched.peak.memory_bytes, 0 if is_own else self._resident)

    def how_it_ended(self) -> str:
        """Describe how the process ended: `exit code N` or `killed by SIGNAL`."""
        code = self.exit_code
        return f"killed by {_signal_name(-code)}" if code < 0 else f"exit code {code}"

    @property
    def exit_code(self) -> int:
        """The exit code of the process, which must have ended; negative for a signal."""
        code = self._reap()
        # Bubblewrap ends normally, with 128 + n if signal n ended the bot.
        # Before Python 3.12, `number in signal.Signals` raises TypeError for other numbers: hence the set.
        if code > 128 and self._launch.reports_signals and code - 128 in set(signal.Signals):
            code = 128 - code
        return code

    def _reap(self) -> int:
        """Wait for the end of the process and return its exit code, negative for a signal."""
        process = self._process
        if process.returncode is None:
            # Kill the rest of its process group first: once the process is reaped, its id may be reused.
            self._kill()
            try:
                _, status, usage = os.wait4(self.pid, 0)
            except ChildProcessError:  # other code has reaped any child
                process.returncode = 255
            else:
                process.returncode = os.waitstatus_to_exitcode(status)
                self._resident = usage.ru_maxrss * 1024
        return process.returncode

    def _kill(self) -> None:
        """Kill the process and all its descendants. If it is a supervisor, it ends by itself after reaping these."""
        if self._launch.is_supervised:
            kill_descendants(self.pid)
            if self.exits_within(KILL_TIMEOUT_S * 1000):
                return
        kill_tree(self.pid)

    def hang_up(self) -> None:
        """Close the process's standard input."""
        assert self._process.stdin
        self._process.stdin.close()

    def end(self) -> None:
        """Kill the process and all its descendants, reap it, close every descriptor."""
        process = self._process
        self._watchdog.forget(self._watched)
        self.ponder_limiter.close()
        if process.returncode is None:
            self._kill()
        # Close the referee's ends of the pipes first, so that a full pipe cannot block the wait for the process.
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe:
                with contextlib.suppress(OSError):
                    pipe.close()
        self._reap()
        os.close(self.pid_fd)
        if self._launch.cgroup:
            self._launch.cgroup.close()


@functools.cache
def _refuse_huge_pages() -> None:
    """Keep huge pages from this process and from all that it starts, for good.

    The kernel keeps a huge page whole while a bot holds any part of it, and charges the rest to no process. The filter
    lets no bot allow them again.
    """
    ctypes.CDLL(None).prctl(_PR_SET_THP_DISABLE, 1, 0, 0, 0)


def _spawn(launch: Launch) -> subprocess.Popen[bytes]:
    _refuse_huge_pages()
    line = list(launch.line)
    passed: tuple[int, ...] = ()
    if launch.filter:
        reader, writer = os.pipe()
        with open(writer, "wb") as file:  # far smaller than the buffer of a pipe
            file.write(launch.filter)
        line = [str(reader) if word == FILTER else word for word in line]
        passed = (reader,)
    try:
        return subprocess.Popen(
            line,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=launch.folder,
            env=launch.environment,
            # Ctrl-C in a terminal reaches the processes in its foreground: the referee ends its bots itself, in order.
            start_new_session=True,
            # The pipes are used by their descriptors: a buffer of Python would hold back bytes.
            bufsize=0,
            pass_fds=passed,
        )
    except OSError:
        if launch.cgroup:
            launch.cgroup.close()
        raise
    finally:
        for descriptor in passed:
            os.close(descriptor)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
