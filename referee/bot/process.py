"""The process of one bot, from spawn to reaping, and the error that ends the game if the bot fails."""

from __future__ import annotations

import errno
import os
import shutil

from referee.bot.lag import QueueMeter
from referee.game.failure import BotError, SandboxError
from referee.game.spec import BotLimits, BotSpec
from referee.rules.core import Termination
from referee.sandbox import Sandbox
from referee.sandbox.child import Child
from referee.sandbox.pondering import PonderLimiter
from referee.sandbox.watchdog import Watchdog

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
        problem = _problem_with(self._spec)
        if problem:
            raise BotError(Termination.HANDSHAKE_FAILED, problem)
        try:
            launch = self._sandbox.confine(self._spec.command, self._spec.folder, self._limits)
        except OSError as error:
            raise SandboxError(f"sandbox {self._sandbox.name}: {error}") from None
        try:
            self.child = Child(launch, self._limits, self._watchdog)
            self.ponder_limiter = self.child.ponder_limiter
            self.queue = QueueMeter(self.child.pid, self.child.ponder_limiter.cpu_time_ns)
        except OSError as error:
            if error.errno in _OURS:
                raise SandboxError(f"no process could be started: {error.strerror}") from None
            raise BotError(Termination.HANDSHAKE_FAILED, f"cannot be started: {error}") from None
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
        child, self.child, self.ponder_limiter, self.queue = self.child, None, None, None
        if child:
            child.end()

    def failed(self, termination: Termination, detail: str) -> BotError:
        """Return the error for a failure.

        Its termination is `memory-limit` or `process-limit` if that limit was the cause, else `termination`.
        """
        self.is_sound = False
        if termination in _BY_LIMIT and self.child:
            excess, limits = self.child.excess(), self._limits
            if excess == "memory":
                termination = Termination.MEMORY_LIMIT
                detail = f"used more than {limits.memory_bytes:,} bytes of memory; {detail}"
            elif excess == "processes":
                termination = Termination.PROCESS_LIMIT
                detail = f"wanted more than {limits.processes} processes; {detail}"
        return BotError(termination, detail)

    def hung_up(self, stage: str) -> BotError:
        """Return the failure of a bot that closed a pipe: it exited, or still runs without the pipe."""
        assert self.child
        if not self.child.exits_within(self._limits.grace_ms):
            detail = f"closed its standard input or output and lives on, {stage}"
            # When the watchdog kills a bot for a limit, its pipes close before its supervisor ends: `failed` then finds
            # which limit the bot exceeded.
            found = self.failed(Termination.STALLED, detail)
            return (
                found if found.termination is not Termination.STALLED else BotError(Termination.PROTOCOL_ERROR, detail)
            )
        return self.failed(Termination.CRASHED, f"{self.child.how_it_ended()}, {stage}")


def _problem_with(spec: BotSpec) -> str | None:
    """Return why the command cannot run; None if its program is an executable file."""
    program = spec.command[0]
    path = os.path.join(spec.folder or "", program) if os.sep in program else shutil.which(program)
    if path is None:
        return f"no such program: {program!r} is not on the path"
    if not os.path.exists(path):
        return f"no such file: {path}"
    if os.path.isdir(path) or not os.access(path, os.X_OK):
        return f"not an executable file: {path}; try chmod +x, and a shebang line in a script"
    return None
