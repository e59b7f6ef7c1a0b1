"""One running bot: its process, its pipes, and the conversation up to each answer.

Every read is bounded, every wait has a deadline, and every way a bot can fail ends in one `BotError` with its
termination and the evidence:

    the process ended                                   crashed
    it closed a pipe and lives on                       protocol-error
    an answer to nothing, or a second one               protocol-error
    no `readyok`, no `bestmove` ever, input not read    stalled
    `bestmove` after its time                           time
    a line too long, too many bytes                     output-limit
    too much memory, too many processes                 memory-limit, process-limit
    before `ugiok`: no such program, any of the first four; afterwards: cannot play by these rules
                                                        handshake-failed

Refuses to know the rules of any game and who is winning.
"""

from __future__ import annotations

import contextlib
import errno
import math
import os
import select
import time
from collections import deque
from collections.abc import Container
from dataclasses import dataclass

from protocol.errors import LineTooLong, ProtocolError
from protocol.lines import LineSplitter, text
from protocol.messages import (
    BestMove,
    Info,
    IsReady,
    Message,
    NewGame,
    Query,
    Quit,
    ReadyOk,
    RefereeMessage,
    Response,
    Result,
    Ugi,
    UgiOk,
    parse_bot_line,
)
from protocol.session import Capabilities, RefereeSession, State, Stray
from referee.rules.core import Termination
from referee.sandbox import Sandbox
from referee.sandbox.child import Child
from referee.sandbox.selftest import fault
from referee.sandbox.watchdog import Watchdog
from referee.spec import BotSpec, Limits

_MS = 1_000_000
_CHUNK = 65_536
_SLICE_MS = 100
"""A single wait at first: being late for its end is noticed, whatever the reason, a stopped process included."""
_LONG_SLICE_MS = 500
"""The longest single wait. A slice grows to a tenth of what was waited already, so that waiting long costs little."""
_HELD_MS = 50
"""Late by more than that for the end of a wait, this process was held up, and very likely the bot with it."""
_CATCH_UP_BYTES = 2**20
"""How much is taken of what a bot said unasked before it is asked: its pipe never holds more."""
_OURS = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN)
"""Why a process may not start that has nothing to do with the bot."""
_BY_LIMIT = (Termination.CRASHED, Termination.STALLED, Termination.HANDSHAKE_FAILED)
"""How a bot fails that ran into the limit of its memory or its processes."""


class BotError(Exception):
    """A bot failed. `termination` is the verdict, `detail` one sentence with stage, line, exit code."""

    def __init__(self, termination: Termination, detail: str) -> None:
        super().__init__(f"{termination}: {detail}")
        self.termination = termination
        self.detail = detail


class Stopped(Exception):  # noqa: N818 - nobody erred
    """The game was called off from outside: nobody's fault."""


class SandboxError(Exception):
    """The bot could not be put into its sandbox: our fault, not the bot's."""


@dataclass(slots=True)
class Thought:
    """A bot's answer to one `go`. Times in milliseconds."""

    move: str | None
    offer: str | None
    ms: float
    lag_ms: float
    info: Info | None


class _LagMeter:
    """How long this thread was runnable but did not run, from the kernel's own books (nanoseconds)."""

    def __init__(self) -> None:
        try:
            self._fd = os.open("/proc/thread-self/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self._fd = -1

    def read(self) -> int:
        if self._fd < 0:
            return 0
        return int(os.pread(self._fd, 64, 0).split(b" ", 2)[1])

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


class Bot:
    """A bot process from spawn to reaping. Not safe for several threads; one slot owns it.

    `stop_fd` becomes readable when everything is to be called off (raises Stopped wherever the bot is waited for).
    `watchdog` is shared by the bots of a slot, so that waiting for one keeps an eye on the other.
    """

    def __init__(
        self,
        spec: BotSpec,
        limits: Limits,
        sandbox: Sandbox,
        stop_fd: int | None = None,
        watchdog: Watchdog | None = None,
    ) -> None:
        self.spec = spec
        self.limits = limits
        self.session = RefereeSession(Capabilities.from_json(spec.capabilities))
        self.is_sound = True
        """False once it failed or misbehaved: such a process is never used again."""
        self._lines: deque[bytes] = deque()
        self._splitter = LineSplitter(limits.line_bytes)
        self._log = bytearray()
        self._output = 0
        self._arrived_ns = 0
        self._stop_fd = stop_fd
        self._meter = _LagMeter()
        self._is_quick = False
        self._lag_ns = 0
        self._held_ns = 0
        self._info: bytes | None = None
        self.transcript: list[str] | None = None
        """Set to a list to have every line exchanged kept (`> ` to the bot, `< ` from it)."""
        self.capabilities = Capabilities.default()
        """What the bot can take: what a check found, with what it announced itself; known after the handshake."""
        self.told: frozenset[str] = frozenset()
        """The options that the rules of its last game made it set; a next game by others puts them back."""
        self._has_been_ready = False
        self._sandbox = sandbox
        self._watchdog = watchdog or Watchdog()
        self._child: Child | None = None
        self._poll = select.poll()

    # -- the process ---------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Spawn the process. Raises BotError (`handshake-failed`) when there is nothing to run, SandboxError."""
        problem = _problem_with(self.spec)
        if problem:
            raise BotError(Termination.HANDSHAKE_FAILED, problem)
        try:
            launch = self._sandbox.confine(self.spec.command, self.spec.folder, self.limits)
        except OSError as error:
            raise SandboxError(f"sandbox {self._sandbox.name}: {error}") from None
        try:
            self._child = child = Child(launch, self.limits, self._watchdog)
        except OSError as error:
            if error.errno in _OURS:
                raise SandboxError(f"no process could be started: {error.strerror}") from None
            raise BotError(Termination.HANDSHAKE_FAILED, f"cannot be started: {error}") from None
        self._in, self._out, self._err, self._pid_fd = child.stdin, child.stdout, child.stderr, child.pid_fd
        for descriptor in (self._out, self._err, self._pid_fd):
            self._poll.register(descriptor, select.POLLIN)
        if self._stop_fd is not None:
            self._poll.register(self._stop_fd, select.POLLIN)

    @property
    def pid(self) -> int | None:
        """The process id while the process has not been reaped."""
        return self._child.pid if self._child else None

    @property
    def is_running(self) -> bool:
        """Whether the process lives."""
        return self._child is not None and not self._child.has_exited

    @property
    def peak_bytes(self) -> int:
        """The most memory it was seen to hold, all its processes together; 0 once it is closed."""
        return self._child.peak_bytes() if self._child else 0

    @property
    def has_shaken_hands(self) -> bool:
        """Whether `ugiok` has come."""
        return self.session.state not in (State.STARTED, State.HANDSHAKE)

    @property
    def is_reusable(self) -> bool:
        """Whether the process may play another game: sound, and not asking for a fresh start (`UGI_Reuse`)."""
        option = self.session.options.get("UGI_Reuse")
        return self.is_sound and self.capabilities.newgame and not (option and option.default == "false")

    @property
    def log(self) -> str:
        """The tail of what the bot wrote to standard error."""
        with contextlib.suppress(BotError):
            self._read_log()
        return bytes(self._log).decode("utf-8", "replace")

    def close(self) -> None:
        """End the process for good: `quit` if it is sound, then kill all of it, reap, close every descriptor."""
        child, self._child = self._child, None
        self._meter.close()
        if child is None:
            return
        try:
            if self.is_sound:
                with contextlib.suppress(OSError, ProtocolError):
                    os.write(self._in, self.session.send(Quit()))
                child.hang_up()
                self._wait_exit(child)
        finally:
            child.end()

    def _wait_exit(self, child: Child) -> None:
        """Give a bot that was told to quit a moment; throw away what it still says."""
        deadline = time.monotonic_ns() + self.limits.quit_ms * _MS
        while (left := deadline - time.monotonic_ns()) > 0:
            events = dict(self._poll.poll(min(_SLICE_MS, math.ceil(left / _MS))))
            if self._pid_fd in events or self._stop_fd in events:
                return
            if not events:
                child.look()
            for descriptor in (self._out, self._err):
                if descriptor in events:
                    with contextlib.suppress(BlockingIOError):
                        if not os.read(descriptor, _CHUNK):
                            self._poll.unregister(descriptor)

    def quit(self) -> bool:
        """Ask the bot to leave; whether it did within `limits.quit_ms`. `close` must still follow."""
        assert self._child
        with contextlib.suppress(BotError, ProtocolError):
            self._write(self.session.send(Quit()))
        self._wait_exit(self._child)
        self.is_sound = False
        return self._child.has_exited

    # -- reading and writing -------------------------------------------------------------------------------------

    def _note(self, mark: str, line: bytes) -> None:
        if self.transcript is not None:
            self.transcript.append(mark + text(line))

    def _write(self, data: bytes, deadline_ns: int | None = None) -> None:
        if self.transcript is not None:
            for line in data.splitlines():
                self._note("> ", line)
        try:
            done = os.write(self._in, data)
        except BlockingIOError:
            done = 0
        except BrokenPipeError:
            raise self._gone("writing to it") from None
        if done < len(data):
            self._write_rest(data[done:], deadline_ns)

    def _write_rest(self, data: bytes, deadline_ns: int | None) -> None:
        """The pipe is full: the bot does not read. Wait for it until the deadline."""
        deadline = deadline_ns or time.monotonic_ns() + self.limits.grace_ms * _MS
        poll = select.poll()
        poll.register(self._in, select.POLLOUT)
        while data:
            if not poll.poll(max(0, math.ceil((deadline - time.monotonic_ns()) / _MS))):
                raise self._failed(Termination.STALLED, "does not read its standard input")
            try:
                data = data[os.write(self._in, data) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                raise self._gone("writing to it") from None

    def _failed(self, termination: Termination, detail: str) -> BotError:
        """The verdict; where a limit is what ended the bot or held it up, that limit's."""
        self.is_sound = False
        if termination in _BY_LIMIT and self._child:
            excess = self._child.excess()
            if excess == "memory":
                return BotError(
                    Termination.MEMORY_LIMIT, f"used more than {self.limits.memory_bytes:,} bytes of memory; {detail}"
                )
            if excess == "processes":
                return BotError(
                    Termination.PROCESS_LIMIT, f"wanted more than {self.limits.processes} processes; {detail}"
                )
        return BotError(termination, detail)

    def _gone(self, stage: str) -> BotError:
        """The bot hung up: tell an exit from a pipe closed by a process that lives on."""
        assert self._child
        if not self._child.exits_within(self.limits.grace_ms):
            return self._failed(
                Termination.PROTOCOL_ERROR, f"closed its standard input or output and lives on, {stage}"
            )
        return self._failed(Termination.CRASHED, f"{self._child.how_it_ended()}, {stage}")

    def _read_log(self) -> bool:
        """Take what there is on standard error, keep the tail. False at its end."""
        if self._child is None:
            return False
        for _ in range(64):
            try:
                data = os.read(self._err, _CHUNK)
            except BlockingIOError:
                return True
            if not data:
                return False
            self._count_output(len(data))
            self._log += data
            del self._log[: -self.limits.log_bytes]
        return True

    def _count_output(self, size: int) -> None:
        self._output += size
        if self._output > self.limits.output_bytes and self.is_sound:
            raise self._failed(
                Termination.OUTPUT_LIMIT, f"wrote more than {self.limits.output_bytes:,} bytes in one game"
            )

    def _read_output(self, stage: str) -> None:
        try:
            data = os.read(self._out, _CHUNK)
        except BlockingIOError:
            return
        self._arrived_ns = time.monotonic_ns()
        if not data:
            raise self._gone(stage)
        self._count_output(len(data))
        try:
            found = self._splitter.feed(data)
            self._lines.extend(found if len(found) == 1 else filter(None, found))  # of a flood, the empty lines go here
        except LineTooLong as error:
            self._lines.extend(error.complete)
            raise self._failed(Termination.OUTPUT_LIMIT, f"{error}, {stage}") from None

    def _line(self, deadline_ns: int, stage: str) -> bytes | None:
        """The next line; None at the deadline. Raises BotError when the bot is gone, Stopped when called off.

        Leaves in `_lag_ns` how late this process was when the last bytes came: what the kernel counts as runnable but
        not running, and at least what the wait took beyond its own timeout. The first millisecond is waited for
        without asking the kernel: a bot that answers within it is the case that must be fast.
        """
        lines = self._lines
        assert self._child
        since = 0
        while not lines:
            begin = time.monotonic_ns()
            since = since or begin
            left = deadline_ns - begin
            if self._is_quick:
                self._is_quick = False
                slice_ms = 1 if left > _MS else max(0, -(-left // _MS))
                delay = None
            else:
                patience = min(_LONG_SLICE_MS, max(_SLICE_MS, (begin - since) // (10 * _MS)))
                slice_ms = min(patience, max(0, -(-left // _MS)))
                delay = self._meter.read()
            events = self._poll.poll(slice_ms)
            if not events:
                now = time.monotonic_ns()
                late = now - begin - slice_ms * _MS
                if late > _HELD_MS * _MS:
                    # Neither woken nor runnable: a stopped process, a frozen machine. That time was nobody's.
                    held = late if delay is None else max(0, late - self._meter.read() + delay)
                    self._held_ns += held
                    deadline_ns += held
                if now < deadline_ns:
                    if slice_ms >= _SLICE_MS:
                        self._child.look()
                    continue
                return None
            ready = [descriptor for descriptor, _ in events]
            if self._stop_fd in ready:
                raise Stopped
            if self._out in ready:
                self._read_output(stage)
                late = self._arrived_ns - begin - slice_ms * _MS
                self._lag_ns = max(0, late, self._meter.read() - delay if delay is not None else 0)
            if self._err in ready and not self._read_log():
                self._poll.unregister(self._err)
            if not lines and self._pid_fd in ready and self._out not in ready:
                self._read_output(stage)
                if not lines:
                    raise self._gone(stage)
            if not lines and left <= 0:
                return None
        line = lines.popleft()
        self._note("< ", line)
        return line

    # -- the conversation ----------------------------------------------------------------------------------------

    def _expect(self, kind: type[Message], deadline_ms: int, stage: str, silent: Termination) -> None:
        """Read until a message of that kind arrives. Raises BotError(`silent`) at the deadline."""
        self._held_ns = 0
        deadline_ns = time.monotonic_ns() + deadline_ms * _MS
        while True:
            line = self._line(deadline_ns + self._held_ns, stage)
            if line is None:
                raise self._failed(silent, f"no answer to {stage} in {deadline_ms / 1000:g} s")
            if isinstance(self._receive(line, stage), kind):
                return
            if self._arrived_ns - self._lag_ns - self._held_ns > deadline_ns:  # it talks, but does not answer
                raise self._failed(silent, f"no answer to {stage} in {deadline_ms / 1000:g} s")

    def _receive(self, line: bytes, stage: str) -> Message | Stray:
        try:
            return self.session.receive(line)
        except ProtocolError as error:
            raise self._failed(Termination.PROTOCOL_ERROR, f"{error}, {stage}") from None

    def handshake(self) -> None:
        """`ugi` … `ugiok`. Raises BotError (`handshake-failed`, or the limit it ran into), SandboxError."""
        try:
            self._write(self.session.send(Ugi()))
            self._expect(UgiOk, self.limits.start_ms, "`ugi`", Termination.HANDSHAKE_FAILED)
        except BotError as error:
            self.is_sound = False
            if error.termination is Termination.CRASHED and self._sandbox.name != "none":
                reason = fault(self._sandbox, self.spec.command, self.spec.folder, self.limits)
                if reason:
                    raise SandboxError(f"sandbox {self._sandbox.name}: {reason}") from None
            if error.termination in (Termination.CRASHED, Termination.STALLED, Termination.PROTOCOL_ERROR):
                raise BotError(Termination.HANDSHAKE_FAILED, error.detail) from None
            raise
        self.capabilities = Capabilities.from_session(self.session)

    def tell(self, message: RefereeMessage) -> None:
        """Send a message that has no answer."""
        self._write(self.session.send(message))

    def ready(self) -> None:
        """`isready` … `readyok`, once only to a bot that takes no more. Raises BotError (`stalled`)."""
        if self._has_been_ready and not self.capabilities.repeated_isready:
            return
        self._write(self.session.send(IsReady()))
        self._expect(ReadyOk, self.limits.ready_ms, "`isready`", Termination.STALLED)
        self._has_been_ready = True

    def new_game(self) -> None:
        """`uginewgame`, with a fresh output budget."""
        self._output = 0
        if self.capabilities.newgame:
            self.tell(NewGame())

    def query(self, position: bytes, what: str, deadline_ms: int) -> tuple[str, bool]:
        """The answer to `query`, and whether it came bare. Raises BotError (`stalled`)."""
        self._write(position + self.session.send(Query(what)))
        deadline_ns = time.monotonic_ns() + deadline_ms * _MS
        while (line := self._line(deadline_ns, "`query`")) is not None:
            message = self._receive(line, "`query`")
            if isinstance(message, Response):
                return message.value, not line.startswith(b"response")
            if self._arrived_ns - self._lag_ns > deadline_ns:  # it talks, but does not answer
                break
        raise self._failed(Termination.STALLED, f"no answer to `query {what}` in {deadline_ms / 1000:g} s")

    def announce(self, result: Result) -> None:
        """Tell a bot that asked for it how the game ended; failures no longer matter."""
        if self.is_sound and self.capabilities.result:
            try:
                self._write(self.session.send(result))
            except (BotError, ProtocolError):
                self.is_sound = False

    def think(self, question: bytes, allowance_ms: float | None, known: Container[bytes] = ()) -> Thought:
        """Send `position … go …` in one write and wait for `bestmove`.

        `known` are move texts that need no reading: a `bestmove` with one of them takes the short way.

        `allowance_ms` None means no clock: then `limits.move_ms` is the longest wait. The referee's own lateness,
        as the kernel counts it, is taken off before a flag falls. Raises BotError with `time` (answered late),
        `stalled` (did not answer), `crashed`, `protocol-error`, `output-limit`; Stopped.
        """
        stage = "thinking"
        if self._lines or self._poll.poll(0):
            self._catch_up()
        if self._arrived_ns > self._watchdog.next_ns:
            self._watchdog.look()
        self._info = None
        allowance_ns = int((self.limits.move_ms if allowance_ms is None else allowance_ms) * _MS)
        self._write(question, None)
        self.session.state = State.THINKING
        self._lag_ns, self._held_ns, self._is_quick = 0, 0, True
        start = time.monotonic_ns()
        deadline = start + allowance_ns
        move: str | None
        offer: str | None
        while True:
            line = self._line(deadline + self._held_ns, stage)
            if line is None:
                raise self._late(allowance_ms, (time.monotonic_ns() - start) / _MS)
            if line.startswith(b"info"):
                if b" score " in line or b" nodes " in line:
                    self._info = line
            elif line.startswith(b"bestmove ") and line[9:] in known:
                self.session.state = State.IDLE
                move, offer = line[9:].decode(), None
                break
            else:
                message = self._receive(line, stage)
                if isinstance(message, BestMove):
                    move, offer = message.move, message.offer
                    break
            if self._arrived_ns - self._lag_ns - self._held_ns > deadline:  # it talks, but does not answer
                raise self._late(allowance_ms, (self._arrived_ns - start) / _MS)
        elapsed = self._arrived_ns - start
        lag = min(self._lag_ns + self._held_ns, elapsed)
        if elapsed - lag > allowance_ns:
            raise self._failed(
                Termination.TIME,
                f"answered after {elapsed / _MS:.1f} ms ({lag / _MS:.1f} ms of them the referee's), "
                f"{allowance_ns / _MS:.1f} ms were left",
            )
        if self._lines and self._lines[0].startswith(b"bestmove"):
            raise self._failed(Termination.PROTOCOL_ERROR, "two bestmoves to one `go`")
        return Thought(move, offer, elapsed / _MS, lag / _MS, self._last_info() if self._info else None)

    def _last_info(self) -> Info | None:
        if self._info is None:
            return None
        try:
            message = parse_bot_line(self._info)
        except ProtocolError:
            return None
        return message if isinstance(message, Info) else None

    def _catch_up(self) -> None:
        """Take what the bot said before it was asked: harmless lines are counted, an answer is a protocol error."""
        stage = "before its turn"
        enough = self._output + _CATCH_UP_BYTES
        while (self._lines or self._output < enough) and (line := self._line(0, stage)) is not None:
            if not line.startswith(b"info"):
                self._receive(line, stage)

    def _late(self, allowance_ms: float | None, waited_ms: float) -> BotError:
        """The time is up. Tell a late answer (`time`) from none at all (`stalled`)."""
        asked = f"no bestmove in {waited_ms:.0f} ms"
        if allowance_ms is None:
            return self._failed(Termination.STALLED, f"{asked}; without a clock the limit is {self.limits.move_ms} ms")
        deadline = time.monotonic_ns() + self.limits.grace_ms * _MS
        try:
            if self.capabilities.stop:
                self._write(b"stop\n", deadline)
            while (line := self._line(deadline, "after its time was up")) is not None:
                if isinstance(self._receive(line, "after its time was up"), BestMove):
                    return self._failed(
                        Termination.TIME, f"{asked}, {allowance_ms:.1f} ms were left; {text(line)[:80]!r} came later"
                    )
                if self._arrived_ns > deadline:  # it talks, but does not answer
                    break
        except BotError as error:
            return error
        return self._failed(
            Termination.STALLED, f"{asked}, {allowance_ms:.1f} ms were left; nor in {self.limits.grace_ms} ms more"
        )


def _problem_with(spec: BotSpec) -> str | None:
    """Why the command cannot be run at all, in words; None when it seems it can."""
    import shutil

    program = spec.command[0]
    path = os.path.join(spec.folder or "", program) if os.sep in program else shutil.which(program)
    if path is None:
        return f"no such program: {program!r} is not on the path"
    if not os.path.exists(path):
        return f"no such file: {path}"
    if os.path.isdir(path) or not os.access(path, os.X_OK):
        return f"not an executable file: {path}; try chmod +x, and a shebang line in a script"
    return None
