"""The pipes of one running bot: lines to the bot, lines from it, and how late the referee read them.

Every read is bounded and every wait has a deadline.
"""

from __future__ import annotations

import contextlib
import math
import os
import select
import time
from collections import deque

from protocol.errors import LineTooLong
from protocol.lines import LineSplitter, text
from referee.bot.process import LagMeter, Process
from referee.game.failure import BotError, Reason, Stopped
from referee.game.spec import BotLimits
from referee.rules.core import Termination

_MS = 1_000_000
_CHUNK = 65_536
_RETURN = ord("\r")
_MOMENT_MS, _MOMENT_NS = 1, 1_000_000
"""The first wait for an answer: within it, an answer is timed by two readings of the clock and nothing else."""
_SLICE_MS = 100
"""The first single wait. Waits are cut into slices so that a stopped or delayed referee notices its own lateness."""
_LONG_SLICE_MS = 500
"""The longest single wait. A slice grows to a tenth of the time waited already, so that long waits cost little."""
_HELD_MS = 50
"""If a wait ends later than this, this process was held up, and very likely the bot with it."""


class Wire:
    """Standard input, output and error of a process.

    `arrived_ns` is when the last bytes came. `lag_ns` is how late this process read them: the kernel's run-queue delay
    or the time by which the wait exceeded its timeout, whichever is greater. `held_ns` is the time since the clock was
    started in which this process was neither woken nor runnable: it is charged to no one. `transcript` is a list that
    collects every line (`> ` to the bot, `< ` from it), if set.
    """

    def __init__(self, process: Process, limits: BotLimits, stop_fd: int | None) -> None:
        self.asked_ns = self.arrived_ns = 0
        self.lag_ns = 0
        self.held_ns = 0
        self.transcript: list[str] | None = None
        self.lines: deque[bytes] = deque()
        """Lines that have arrived and are still to be taken."""
        self.output_bytes = 0
        """Bytes the bot has written in this game, on both pipes."""
        self._process = process
        self._limits = limits
        self._stop_fd = stop_fd
        self._splitter = LineSplitter(limits.line_bytes)
        self._log = bytearray()
        self._meter = LagMeter()
        self._poll = select.poll()

    def open(self) -> None:
        """Start listening to the pipes of the process, which must have been started."""
        child = self._process.child
        assert child
        self._child = child
        self._in, self._out, self._err, self._pid_fd = child.stdin, child.stdout, child.stderr, child.pid_fd
        for descriptor in (self._out, self._err, self._pid_fd):
            self._poll.register(descriptor, select.POLLIN)
        if self._stop_fd is not None:
            self._poll.register(self._stop_fd, select.POLLIN)
        # The events of a bot that answers at once, for `ask` to compare with instead of taking the list apart.
        self._answered = [(self._out, select.POLLIN)]

    def close(self) -> None:
        """Close the lag meter; the pipes belong to the process, which closes them."""
        self._meter.close()

    def _note(self, mark: str, line: bytes) -> None:
        if self.transcript is not None:
            self.transcript.append(mark + text(line))

    def write(self, data: bytes, deadline_ns: int | None = None) -> None:
        """Send lines. Raises BotError if the bot is gone or has not read them by the deadline.

        If `deadline_ns` is None, the bot has the grace period to read them.
        """
        if self.transcript is not None:
            for line in data.splitlines():
                self._note("> ", line)
        try:
            done = os.write(self._in, data)
        except BlockingIOError:
            done = 0
        except BrokenPipeError:
            raise self._process.hung_up("writing to it") from None
        if done < len(data):
            self._write_rest(data[done:], deadline_ns)

    def _write_rest(self, data: bytes, deadline_ns: int | None) -> None:
        """Write the rest of the lines to a full pipe. Raises BotError if the bot does not read it by the deadline."""
        deadline = deadline_ns or time.monotonic_ns() + self._limits.grace_ms * _MS
        poll = select.poll()
        poll.register(self._in, select.POLLOUT)
        while data:
            if not poll.poll(max(0, math.ceil((deadline - time.monotonic_ns()) / _MS))):
                raise self._process.failed(Termination.STALLED, "does not read its standard input")
            try:
                data = data[os.write(self._in, data) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                raise self._process.hung_up("writing to it") from None

    def take_leave(self, farewell: bytes) -> None:
        """Send the last line (`quit`), close standard input and wait for the exit as `drain` does; ignore errors."""
        with contextlib.suppress(OSError):
            os.write(self._in, farewell)
        self._child.hang_up()
        self.drain()

    @property
    def unfinished(self) -> str:
        """The beginning of an output line whose end has not arrived yet."""
        return text(self._splitter.unfinished)

    def last_lines(self, wait_ms: int, farewell: bytes = b"") -> list[str]:
        """Send the last lines, close the standard input and return the lines that the bot writes then, until it exits
        or the time is up.
        """
        with contextlib.suppress(OSError):
            os.write(self._in, farewell)
        self._child.hang_up()
        deadline, lines = time.monotonic_ns() + wait_ms * _MS, []
        with contextlib.suppress(BotError):
            while (line := self.line(deadline, "at the end of its input")) is not None:
                lines.append(text(line))
        return lines

    def drain(self) -> None:
        """Give a bot that received `quit` its time to exit, and discard its output."""
        deadline = time.monotonic_ns() + self._limits.quit_ms * _MS
        while (left := deadline - time.monotonic_ns()) > 0:
            events = dict(self._poll.poll(min(_SLICE_MS, math.ceil(left / _MS))))
            if self._pid_fd in events or self._stop_fd in events:
                return
            if not events:
                self._child.check_limits()
            for descriptor in (self._out, self._err):
                if descriptor in events:
                    with contextlib.suppress(BlockingIOError):
                        if not os.read(descriptor, _CHUNK):
                            self._poll.unregister(descriptor)

    @property
    def log(self) -> str:
        """The end of the bot's standard error, at most `limits.log_bytes`."""
        if self._process.child:
            with contextlib.suppress(BotError):
                self._read_log()
        return bytes(self._log).decode("utf-8", "replace")

    def forget_log(self) -> None:
        """Drop the standard error written so far, also what has not been read yet: it belongs to the game before."""
        with contextlib.suppress(BotError):
            self._read_log()
        self._log.clear()

    def _read_log(self) -> bool:
        """Read standard error and keep the last bytes; return False once it is closed."""
        # A bot may write as fast as this process reads: 4 MiB are enough for one call.
        for _ in range(64):
            try:
                data = os.read(self._err, _CHUNK)
            except BlockingIOError:
                return True
            if not data:
                return False
            self._count(len(data))
            self._log += data
            del self._log[: -self._limits.log_bytes]
        return True

    def _count(self, size: int) -> None:
        # Search information counts too: a bot must not fill the referee's memory or time with it.
        self.output_bytes += size
        if self.output_bytes > self._limits.output_bytes and self._process.is_sound:
            detail = f"wrote more than {self._limits.output_bytes:,} bytes in one game"
            raise self._process.failed(Termination.OUTPUT_LIMIT, detail)

    def _read_output(self, stage: str) -> None:
        try:
            data = os.read(self._out, _CHUNK)
        except BlockingIOError:
            return
        self.arrived_ns = time.monotonic_ns()
        if not data:
            raise self._process.hung_up(stage)
        self._take(data, stage)

    def _take(self, data: bytes, stage: str) -> None:
        """Split received bytes into lines. Raises BotError for a line that is too long, or too many bytes in a game."""
        self._count(len(data))
        try:
            lines = self._splitter.feed(data)
            self.lines.extend(filter(None, lines))
        except LineTooLong as error:
            self.lines.extend(error.complete)
            detail = f"{error}, {stage}"
            raise self._process.failed(Termination.OUTPUT_LIMIT, detail, reason=Reason.LONG_LINE) from None

    @property
    def has_spoken(self) -> bool:
        """True if unread output of the bot is waiting."""
        return bool(self.lines or self._poll.poll(0))

    def start_clock(self) -> int:
        """Reset `lag_ns` and `held_ns`, and return the present moment."""
        self.lag_ns = self.held_ns = 0
        return time.monotonic_ns()

    def ask(self, question: bytes, stage: str) -> bytes | None:
        """Send a question and wait a moment for its answer; return the line if exactly one whole line arrives.

        Otherwise return None; `line` continues with what has arrived. `asked_ns` is when the question was sent. Raises
        BotError.
        """
        self.write(question)
        self.lag_ns = self.held_ns = 0
        self.asked_ns = time.monotonic_ns()
        events = self._poll.poll(_MOMENT_MS)
        if events != self._answered:  # no output yet, or an event that only `line` handles
            if not events:
                self._held_up(time.monotonic_ns() - self.asked_ns - _MOMENT_NS, None)
            return None
        data = os.read(self._out, _CHUNK)
        self.arrived_ns = time.monotonic_ns()
        if self.arrived_ns - self.asked_ns > _MOMENT_NS:
            self.lag_ns = self.arrived_ns - self.asked_ns - _MOMENT_NS
        end = len(data) - 1
        # Nearly every answer is one whole line after another: it needs neither splitter nor queue.
        is_whole = 0 < data.find(b"\n") == end <= self._limits.line_bytes and self._splitter.is_empty
        if is_whole and self.transcript is None:
            self._count(end + 1)
            return data[:end] if data[end - 1] != _RETURN else data[: end - 1]
        if not data:
            raise self._process.hung_up(stage)
        self._take(data, stage)
        return None

    def line(self, deadline_ns: int, stage: str) -> bytes | None:
        """Return the next line, or None at the deadline. Raises BotError, or Stopped if the game is called off."""
        lines = self.lines
        since = 0
        while not lines:
            begin = time.monotonic_ns()
            since = since or begin
            left = deadline_ns - begin
            # The rest is rounded up: rounded down, the last millisecond would be a loop of waits of 0 ms.
            slice_ms = min(_LONG_SLICE_MS, max(_SLICE_MS, (begin - since) // (10 * _MS)), max(0, -(-left // _MS)))
            delay = self._meter.read()
            events = self._poll.poll(slice_ms)
            if not events:
                now = time.monotonic_ns()
                # What suspends this process very likely suspends the bot as well: neither can use the time.
                deadline_ns += self._held_up(now - begin - slice_ms * _MS, delay)
                if now >= deadline_ns:
                    return None
                # A shorter slice is the last one before the deadline, which a check of many files would delay.
                if slice_ms >= _SLICE_MS:
                    self._child.check_limits()
                    if self._process.queue:
                        self._process.queue.look()
                continue
            ready = [descriptor for descriptor, _ in events]
            if self._stop_fd in ready:
                raise Stopped
            if self._out in ready:
                self._read_output(stage)
                late = self.arrived_ns - begin - slice_ms * _MS
                self.lag_ns = max(0, late, self._meter.read() - delay)
            # A closed pipe is always readable: left in the poll, it would end every wait at once.
            if self._err in ready and not self._read_log():
                self._poll.unregister(self._err)
            if not lines:
                # Otherwise the closed pipe is ready too: here a child of the ended bot still holds it open.
                if self._pid_fd in ready and self._out not in ready:
                    self._read_last(stage)
                # A bot that writes without pause, but no whole line, never lets the poll time out: only this ends the
                # wait.
                elif left <= 0:
                    return None
        return self.take()

    def take(self) -> bytes:
        """Return the next of the lines that have arrived."""
        line = self.lines.popleft()
        self._note("< ", line)
        return line

    def _held_up(self, late_ns: int, delay_ns: int | None) -> int:
        """Return the part of an overdue wait in which this process was suspended: not even runnable."""
        if late_ns <= _HELD_MS * _MS:
            return 0
        held = late_ns if delay_ns is None else max(0, late_ns - self._meter.read() + delay_ns)
        self.held_ns += held
        return held

    def _read_last(self, stage: str) -> None:
        """Read what an ended process left in its pipe. Raises BotError if that holds no whole line."""
        self._read_output(stage)
        if not self.lines:
            raise self._process.hung_up(stage)
