"""Reads what a bot writes: the messages that the referee waits for, and the answer to a `go` that took its time.

An answer that comes at once is read by `LocalBot.think` itself, which does nothing else in most turns of quick bots.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from protocol.errors import ProtocolError
from protocol.lines import text
from protocol.messages import BestMove, Info, Message
from protocol.parser import parse_bot_line
from protocol.session import RefereeSession
from protocol.turn import Stray
from referee.bot.process import MAX_START_NS, MAX_TURN_NS, POLL_INTERVAL_NS, Process, QueueMeter
from referee.bot.seat import LAST_LINES, Thought
from referee.bot.wire import Wire
from referee.game.failure import BotError, Reason
from referee.game.score import summary
from referee.game.spec import BotLimits
from referee.rules.core import Termination

_MS = 1_000_000
_HEARD_AFTER_NS = 60_000_000
"""When others hear a second time of what happened before the turn: what was too recent at its start is due by then."""
_CATCH_UP_BYTES = 2**20
"""The most unread output that is consumed before a question: a pipe never holds more."""


class Turn:
    """The time of a turn since `start_ns` on the monotonic clock, and the part of it that is not charged to the bot.

    At most `most_ns` of the bot's run-queue delay are not charged.
    """

    __slots__ = ("_most_ns", "_queue", "_waited_ns", "_wire", "allowance_ns", "start_ns")

    def __init__(
        self, wire: Wire, queue: QueueMeter, start_ns: int, allowance_ns: int, most_ns: int = MAX_TURN_NS
    ) -> None:
        self.start_ns, self.allowance_ns = start_ns, allowance_ns
        self._wire, self._queue, self._waited_ns, self._most_ns = wire, queue, 0, most_ns

    @property
    def deadline_ns(self) -> int:
        """The moment at which the bot's time is up, extended by the delays measured so far."""
        return self.start_ns + self.allowance_ns + self._wire.held_ns + self._waited_ns

    def is_up(self, at_ns: int) -> bool:
        """Read the bot's run-queue delay; return whether the bot's time was up at the moment `at_ns`."""
        if at_ns <= self.deadline_ns:
            return False
        self._waited_ns = self._queue.waited_ns(at_ns - self.start_ns - self._wire.held_ns, self._most_ns)
        over_ns = at_ns - self.deadline_ns
        if over_ns <= 0:
            return False
        if self._waited_ns + over_ns > self._most_ns or not self._queue.is_in_line():
            return True
        self._waited_ns += over_ns + POLL_INTERVAL_NS  # until the next poll
        return False

    def end(self, elapsed_ns: int) -> int:
        """End the turn and return the part of its time that is not charged to the bot."""
        lag = min(self._wire.lag_ns + self._wire.held_ns, elapsed_ns)
        waited = self._queue.waited_ns(elapsed_ns - lag)
        self._queue.end(waited)
        return lag + waited


class AnswerReader:
    """The reader of a bot's messages, over its `process`, `wire` and `session`."""

    def __init__(self, process: Process, wire: Wire, session: RefereeSession, limits: BotLimits) -> None:
        self.grace_ms = limits.grace_ms
        """How long to wait for an answer after its time is up."""
        self.on_wait: Callable[[], None] | None = None
        """Called when the bot's answer takes longer than a moment, and once more when it takes much longer."""
        self._process, self._wire, self._session, self._limits = process, wire, session, limits

    def lines(self, wait_ms: int, stage: str, most_ns: int = MAX_TURN_NS) -> Iterator[bytes]:
        """Yield the bot's lines until the time is up, even if more lines keep coming.

        As in a turn, neither the referee's own delay nor the time for which the bot waits for a processor counts, of
        which at most `most_ns` are given.
        """
        wire, queue = self._wire, self._process.queue
        assert queue
        queue.begin(is_start=True)
        turn = Turn(wire, queue, wire.start_clock(), wait_ms * _MS, most_ns)
        is_up = False
        while not is_up:
            line = wire.line(turn.deadline_ns, stage)
            if line is not None:
                yield line
            is_up = turn.is_up(time.monotonic_ns() if line is None else wire.arrived_ns - wire.lag_ns)

    def receive(self, line: bytes, stage: str) -> Message | Stray:
        """Return the message of a line. Raises BotError (`protocol-error`)."""
        try:
            return self._session.receive(line)
        except ProtocolError as error:
            raise self._process.failed(Termination.PROTOCOL_ERROR, f"{error}, {stage}") from None

    def expect(self, kind: type[Message], deadline_ms: int, stage: str, silent: Termination) -> None:
        """Read until a message of class `kind` arrives. Raises BotError with termination `silent` at the deadline."""
        for line in self.lines(deadline_ms, stage, MAX_START_NS):
            if isinstance(self.receive(line, stage), kind):
                return
        raise self._process.failed(silent, f"no answer to {stage} in {deadline_ms / 1000:g} s", reason=Reason.LATE)

    def catch_up(self) -> None:
        """Read pending output before a question: search information is dropped, an answer is a protocol error."""
        wire, stage = self._wire, "before its turn"
        enough = wire.output_bytes + _CATCH_UP_BYTES
        while (wire.lines or wire.output_bytes < enough) and (line := wire.line(0, stage)) is not None:
            if not line.startswith(b"info"):
                self.receive(line, stage)

    def let_others_hear(self) -> None:
        """Call `on_wait`, which publishes the last plies, while the bot is thinking."""
        if self.on_wait:
            wire, begin = self._wire, time.monotonic_ns()
            self.on_wait()
            if wire.has_spoken:  # the moment of arrival is unknown: do not charge the time of `on_wait`
                wire.held_ns += time.monotonic_ns() - begin

    def read(self, turn: Turn, allowance_ms: float | None, known: Mapping[bytes, int], *, may_stop: bool) -> Thought:
        """Return the answer of a turn that has begun; arguments and errors are those of `LocalBot.think`.

        With `may_stop` the bot understands `stop`.
        """
        wire = self._wire
        move, code, offer, lines = self._answer(turn, allowance_ms, known, may_stop=may_stop)
        elapsed = wire.arrived_ns - wire.asked_ns
        lag = turn.end(elapsed)
        if elapsed - lag > turn.allowance_ns:
            raise self._process.failed(
                Termination.TIME,
                f"answered after {elapsed / _MS:.1f} ms ({lag / _MS:.1f} ms of them the machine's), "
                f"{turn.allowance_ns / _MS:.1f} ms were left",
                reason=Reason.LATE,
            )
        # Read later, it would be taken for the answer to the next question.
        if wire.lines and wire.lines[0].startswith(b"bestmove"):
            raise self._process.failed(Termination.PROTOCOL_ERROR, "two bestmoves to one `go`")
        info = summary(_read_infos(lines)) if lines else None
        return Thought(move, offer, rounded_ms(elapsed), rounded_ms(lag), info, code, lines)

    def _answer(
        self, turn: Turn, allowance_ms: float | None, known: Mapping[bytes, int], *, may_stop: bool
    ) -> tuple[str | None, int | None, str | None, Sequence[bytes]]:
        """Return the move as text, the move as code, the bot's offer, and the last lines of search information.

        The text is None if `known` has its code, otherwise the code is None.
        """
        wire, stage = self._wire, "thinking"
        lines: deque[bytes] = deque(maxlen=LAST_LINES)
        pause_ns: int | None = turn.start_ns + _HEARD_AFTER_NS if self.on_wait else None
        while True:
            line = wire.line(turn.deadline_ns if pause_ns is None else min(pause_ns, turn.deadline_ns), stage)
            if line is None:
                now_ns = time.monotonic_ns()
                if turn.is_up(now_ns):
                    raise self._late(allowance_ms, (now_ns - turn.start_ns) / _MS, may_stop=may_stop)
                if pause_ns is not None and now_ns >= pause_ns:
                    pause_ns = None
                    self.let_others_hear()
                continue
            if line.startswith(b"info"):
                # The others, such as `info string`, must not push these out of the few lines that are kept.
                if b" score " in line or b" nodes " in line:
                    lines.append(line)
            elif line.startswith(b"bestmove ") and (code := known.get(line[9:])) is not None:
                self._session.end_turn()
                return None, code, None, lines
            else:
                message = self.receive(line, stage)
                if isinstance(message, BestMove):
                    return message.move, None, message.offer, lines
            if turn.is_up(wire.arrived_ns - wire.lag_ns):  # the bot writes lines, but no answer
                raise self._late(allowance_ms, (wire.arrived_ns - turn.start_ns) / _MS, may_stop=may_stop)

    def _late(self, allowance_ms: float | None, waited_ms: float, *, may_stop: bool) -> BotError:
        """Return the verdict when the time is up: `time` if an answer still arrives in the grace period, else
        `stalled`.
        """
        asked, failed = f"no bestmove in {waited_ms:.0f} ms", partial(self._process.failed, reason=Reason.LATE)
        if allowance_ms is None:
            return failed(Termination.STALLED, f"{asked}; without a clock the limit is {self._limits.move_ms} ms")
        asked = f"{asked}, {allowance_ms:.1f} ms were left"
        stage = "after its time was up"
        try:
            if may_stop:
                self._wire.write(b"stop\n")
            for line in self.lines(self.grace_ms, stage):
                if isinstance(self.receive(line, stage), BestMove):
                    return failed(Termination.TIME, f"{asked}; {text(line)[:80]!r} came later")
        except BotError as error:
            return error
        return failed(Termination.STALLED, f"{asked}; nor in {self.grace_ms} ms more")


def rounded_ms(time_ns: int) -> float:
    """Return nanoseconds in milliseconds with three decimals; `round` takes as long as a call of a kernel."""
    return (time_ns + 500) // 1000 / 1000


def _read_infos(lines: Sequence[bytes]) -> Iterator[Info]:
    """Parse the lines of search information, the latest first, as far as they are wanted."""
    for line in reversed(lines):
        message = parse_bot_line(line)
        if isinstance(message, Info):
            yield message
