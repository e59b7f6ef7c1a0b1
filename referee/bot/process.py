"""The process of one bot, from spawn to reaping, the error that ends the game if the bot fails, and its delays.

The kernel counts the delays that the machine adds to a bot's time: the referee's own lateness and the bot's run-queue
delay.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import time
from collections.abc import Callable

from referee.bot.bridge import starts_programs, uses_network
from referee.bot.input_file import script_fault
from referee.game.failure import BotError, Reason, SandboxError
from referee.game.spec import BotLimits, BotSpec
from referee.rules.core import Termination
from referee.sandbox import Sandbox
from referee.sandbox.child import Child
from referee.sandbox.launch import search_path
from referee.sandbox.pondering import PonderLimiter
from referee.sandbox.reaper import descendants
from referee.sandbox.watchdog import Watchdog

MAX_TURN_NS = 2_000_000_000
"""The longest run-queue delay in one turn that a bot is not charged for."""
MAX_GAME_NS = 60_000_000_000
"""The same for a whole game. A machine that busy plays nothing worth rating, but its games must end."""
MAX_START_NS = 60_000_000_000
"""The same while a bot starts: a second of processor time takes half a minute on a machine with a load of 30."""
_REFRESH_NS = 1_000_000_000
"""Time for which a bot's list of threads is taken as unchanged."""
_MAX_THREADS = 64
POLL_INTERVAL_NS = 20_000_000
"""Interval between two readings that tell a running thread from a waiting one: the kernel counts from tick to
tick, and a tick takes at most 10 ms.
"""
_PROC = "/proc"


class LagMeter:
    """The run-queue delay of the calling thread: how long it was runnable but not running, in nanoseconds."""

    def __init__(self) -> None:
        try:
            # The file stands for the thread that opens it, also if another thread reads it.
            self._fd = os.open("/proc/thread-self/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self._fd = -1

    def read(self) -> int:
        """Return the delay so far; always 0 if the kernel does not count it."""
        if self._fd < 0:
            return 0
        # Nanoseconds on a processor, nanoseconds in its run queue, number of time slices (Linux, sched-stats.rst).
        return int(os.pread(self._fd, 64, 0).split(b" ", 2)[1])

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


class QueueMeter:
    """The run-queue delay of a bot in a turn: the time for which a thread was runnable but not running.

    The thread with the longest delay counts. The delay is at most the length of the turn less the processor time that
    the bot's processes used in it (`spent`): delays that a bot's threads cause each other are charged to the bot.
    `sees_starts`: threads that start within a turn are measured too, and also if they end within it.
    """

    def __init__(self, pid: int, spent: Callable[[], int], *, sees_starts: bool = False) -> None:
        self._pid, self._spent, self._sees_starts = pid, spent, sees_starts
        self._files: dict[str, int] = {}
        """Descriptors of the kernel's count for each thread, by path."""
        self._refreshed_ns = 0
        self._before: dict[int, int] = {}
        self._latest: dict[int, int] = {}
        """The last readings of a turn in which starts are seen: a thread that has ended can be read no more."""
        self._is_looking = sees_starts
        self._spent_ns = 0
        self.left_ns = MAX_GAME_NS
        self._ran: dict[str, int] = {}
        """Run time of each thread that was ready at the last reading."""

    def start(self) -> None:
        """Start another game, for which the limit of uncharged delay is reset."""
        self.left_ns = MAX_GAME_NS

    def begin(self, *, is_start: bool = False) -> None:
        """Start the measurement of a turn, or of a bot's start, in which threads start too."""
        now = time.monotonic_ns()
        self._is_looking = is_start or self._sees_starts
        self._latest = {}
        # Listing the threads takes several system calls for each process, so it is not done every turn.
        if now - self._refreshed_ns >= _REFRESH_NS:
            # What starts during a start must be listed by the turn that follows, however soon.
            self._refreshed_ns = 0 if is_start else now
            self._refresh()
        self._before = {file: self._read(file) for file in self._files.values()}
        self._spent_ns = self._spent()
        self._ran = {}

    def look(self) -> None:
        """Measure what has started in the turn, if starts are seen: all delay of such a thread lies within the turn."""
        if self._is_looking:
            self._add(self._paths())
            self._before = {**dict.fromkeys(self._files.values(), 0), **self._before}
            self._latest = {file: self._read(file) or self._latest.get(file, 0) for file in self._before}

    def waited_ns(self, took_ns: int, most_ns: int = MAX_TURN_NS) -> int:
        """Return how many nanoseconds of the turn were run-queue delay that is not charged, at most `most_ns`."""
        latest = self._latest
        waits = [(self._read(file) or latest.get(file, 0)) - before for file, before in self._before.items()]
        # While one of the bot's threads runs, the bot uses its time, whatever its other threads wait for.
        own_ns = took_ns - (self._spent() - self._spent_ns)
        return max(0, min(max(waits, default=0), own_ns, most_ns, self.left_ns))

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
                # The name of the program comes first, in parentheses, and may itself contain parentheses and spaces.
                return file.read(512).rpartition(b") ")[2][:1] == b"R"
        except OSError:
            return False

    def end(self, waited_ns: int) -> None:
        """End the turn and subtract its uncharged delay from what is left of the game's limit."""
        self.left_ns -= waited_ns

    def _read(self, file: int, place: int = 1) -> int:
        try:
            return int(os.pread(file, 64, 0).split(b" ", 2)[place])
        except OSError:  # the thread has ended
            return 0

    def _refresh(self) -> None:
        paths = self._paths()
        for path in self._files.keys() - paths:
            os.close(self._files.pop(path))
        self._add(paths)

    def _paths(self) -> list[str]:
        paths: list[str] = []
        for pid in (self._pid, *descendants(self._pid)):
            with contextlib.suppress(OSError):
                paths += [f"{_PROC}/{pid}/task/{thread}/schedstat" for thread in os.listdir(f"{_PROC}/{pid}/task")]
        return paths

    def _add(self, paths: list[str]) -> None:
        for path in paths:
            # Each file is read twice in every slow turn, so their number is bounded.
            if path not in self._files and len(self._files) < _MAX_THREADS:
                with contextlib.suppress(OSError):
                    self._files[path] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def close(self) -> None:
        for file in self._files.values():
            os.close(file)
        self._files.clear()
        self._before.clear()


_OURS = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN)
"""Errors of a spawn that are not the bot's fault."""
_BY_LIMIT = (Termination.CRASHED, Termination.STALLED, Termination.HANDSHAKE_FAILED)
"""Terminations that may have a memory or process limit as their cause."""


class Process:
    """A process to be started in `sandbox` and watched by `watchdog`.

    `is_sound` is False once the bot failed or misbehaved: such a process is never used again. `child`, `ponder_limiter`
    (limits the bot's processor time out of turn) and `queue` (measures its run-queue delay in its turns) exist from
    `start` to `end`.
    """

    def __init__(self, spec: BotSpec, limits: BotLimits, sandbox: Sandbox, watchdog: Watchdog) -> None:
        self.is_sound = True
        self.child: Child | None = None
        self.ponder_limiter: PonderLimiter | None = None
        self.queue: QueueMeter | None = None
        self._spec = spec
        self._limits = limits
        self._sandbox = sandbox
        self._watchdog = watchdog

    def start(self) -> Child:
        """Spawn the process. Raises SandboxError, or BotError (`handshake-failed`) if the command cannot be run."""
        # The launcher of a sandbox always starts: without this, a missing program would look like a bot that ended.
        if problem := _problem_with(self._spec):
            reason, detail = problem
            raise BotError(Termination.HANDSHAKE_FAILED, detail, reason=reason)
        try:
            has_network = self._spec.network == "loopback" or uses_network(self._spec.command)
            launch = self._sandbox.confine(self._spec.command, self._spec.folder, self._limits, has_network=has_network)
        except OSError as error:
            # A missing sandbox program is the machine's fault: the game is void, not lost.
            raise SandboxError(f"sandbox {self._sandbox.name}: {error}") from None
        try:
            self.child = Child(launch, self._limits, self._watchdog)
            self.ponder_limiter = self.child.ponder_limiter
            spent = self.child.ponder_limiter.cpu_time_ns
            self.queue = QueueMeter(self.child.pid, spent, sees_starts=starts_programs(self._spec.command))
        except OSError as error:
            if error.errno in _OURS:
                raise SandboxError(f"no process could be started: {error.strerror}") from None
            detail = f"cannot be started: {error}"
            raise BotError(Termination.HANDSHAKE_FAILED, detail, reason=Reason.NOT_STARTED) from None
        return self.child

    @property
    def pid(self) -> int | None:
        """The process id; None before the start and after the end."""
        return self.child.pid if self.child else None

    @property
    def is_running(self) -> bool:
        """True while the process lives."""
        return self.child is not None and not self.child.has_exited

    @property
    def peak_bytes(self) -> int:
        """The peak memory of the process and its descendants together; 0 after `end`."""
        return self.child.peak_bytes() if self.child else 0

    def end(self) -> None:
        """Kill the process with all its descendants, reap it and close its pipes."""
        if self.queue:
            self.queue.close()
        # Cleared first: if the end fails, the next call must not close descriptors that others may use by then.
        child, self.child, self.ponder_limiter, self.queue = self.child, None, None, None
        if child:
            child.end()

    def failed(
        self, termination: Termination, detail: str, *, exit_code: int | None = None, reason: Reason | None = None
    ) -> BotError:
        """Return the error for a failure.

        Its termination is `memory-limit` or `process-limit` if that limit was the cause; else it is `termination`, for
        the `reason`.
        """
        self.is_sound = False
        if termination in _BY_LIMIT and self.child:
            excess, limits = self.child.excess(), self._limits
            if excess == "memory":
                termination, reason = Termination.MEMORY_LIMIT, None
                detail = f"used more than {limits.memory_bytes:,} bytes of memory; {detail}"
            elif excess == "processes":
                termination, reason = Termination.PROCESS_LIMIT, None
                detail = f"wanted more than {limits.processes} processes; {detail}"
        return BotError(termination, detail, exit_code=exit_code, reason=reason)

    def hung_up(self, stage: str) -> BotError:
        """Return the failure of a bot that closed a pipe: it exited, or still runs without the pipe."""
        assert self.child
        if not self.child.ends_within(self._limits.grace_ms):
            detail = f"closed its standard input or output and lives on, {stage}"
            # When the watchdog kills a bot for a limit, its pipes close before its supervisor ends: `failed` then finds
            # which limit the bot exceeded.
            failure = self.failed(Termination.STALLED, detail)
            return (
                failure
                if failure.termination is not Termination.STALLED
                else BotError(Termination.PROTOCOL_ERROR, detail)
            )
        detail = f"{self.child.how_it_ended()}, {stage}"
        return self.failed(Termination.CRASHED, detail, exit_code=self.child.exit_code)


def _problem_with(spec: BotSpec) -> tuple[Reason, str] | None:
    """Return why the command cannot run; None if its program is an executable file."""
    program = spec.command[0]
    if os.sep in program:
        path: str | None = os.path.join(spec.folder or "", program)
    else:
        path = shutil.which(program, path=search_path(os.environ.get("PATH", os.defpath)))
    if path is None:
        return Reason.NO_PROGRAM, f"no such program: {program!r} is not on the path"
    if not os.path.exists(path):
        return Reason.NO_PROGRAM, f"no such file: {path}"
    if os.path.isdir(path) or not os.access(path, os.X_OK):
        detail = f"not an executable file: {path}; try chmod +x, and a shebang line in a script"
        return Reason.NOT_EXECUTABLE, detail
    fault = script_fault(path)
    return (Reason.NOT_STARTED, f"not an executable script: {path}: {fault}") if fault else None
