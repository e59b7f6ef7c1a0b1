"""The seat of a bot that runs on its author's machine: the protocol as usual, over a connection that may be lost.

Deadlines and verdicts are those of a process, with two differences. The usual round trip is not charged to the bot, and
the connection is checked before the bot loses on time. While the connection is lost, the bot's clock stops. If the
connection returns within its grace period, a fresh program gets the rules and the position again, and the game
continues with the time left. Otherwise the bot loses: `disconnected`.
"""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import TypeVar

from protocol.capabilities import Capabilities
from protocol.errors import ProtocolError
from protocol.messages import (
    BestMove,
    Info,
    IsReady,
    Message,
    ReadyOk,
    RefereeMessage,
    Ugi,
    UgiNewGame,
    UgiOk,
    UgiResult,
)
from protocol.options import OptionDecl
from protocol.session import RefereeSession
from protocol.turn import Stray
from referee.bot.remote.account import NetworkAccount
from referee.bot.remote.link import LineLost, LobbyLink, ProgramGone
from referee.bot.seat import LAST_LINES, Overshoot, Thought
from referee.game.failure import BotError, SandboxError
from referee.game.record import NetworkFigures
from referee.game.score import summary
from referee.game.spec import BotLimits, BotSpec
from referee.rules.core import Termination

T = TypeVar("T")
_MS = 1_000_000
_OWN_TIME = (re.compile(rb"(p1time )(\d+)"), re.compile(rb"(p2time )(\d+)"))
_MOVE_TIME = re.compile(rb"(movetime )(\d+)")
PING_MS = 1000.0
"""Interval of the lobby's round trips: an outage between two of them is not measured exactly."""


class RemoteBot:
    """The seat of a remote bot; `open_link` opens the link to the lobby that the bot is connected to."""

    def __init__(
        self, spec: BotSpec, limits: BotLimits, overshoot: Overshoot, open_link: Callable[[], LobbyLink]
    ) -> None:
        self.spec = spec
        self.limits = limits
        self.capabilities = Capabilities.default()
        self.rule_options: frozenset[str] = frozenset()
        self.overshoot = overshoot
        self.has_answered = False
        self.anomaly_count = 0
        self.log = ""
        self._open_link = open_link
        self._opened: NetworkAccount | None = None
        """The account of the link to the lobby, once that is open."""
        self._session = RefereeSession()
        self.side = 0
        self._is_open = self._has_shaken_hands = self._is_ready = False
        self._said: list[RefereeMessage] = []
        """Messages that a fresh program receives again: the options and the beginning of the game."""
        self._output_bytes = 0

    # -- the bot -------------------------------------------------------------------------------------------------------

    @property
    def options(self) -> Mapping[str, OptionDecl]:
        """The options that the bot has announced, by name."""
        return self._session.options

    @property
    def families(self) -> Collection[str]:
        return self._session.families

    @property
    def network(self) -> NetworkFigures | None:
        """The connection during the game, for the record; None before it."""
        return self._opened.figures() if self._opened else None

    # -- the conversation ----------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the program on its author's machine. Raises BotError, SandboxError, Stopped."""
        if self._opened is None:
            begin = time.monotonic_ns()
            self._opened = NetworkAccount(self._open_link())
            try:
                self._lasting(lambda: None)
            finally:  # a game lost by `disconnected` here waited too
                self._opened.wait_ms = (time.monotonic_ns() - begin) / _MS

    def handshake(self) -> None:
        """Shake hands: `ugi` … `ugiok`. Raises as `referee.bot.bot.LocalBot.handshake`."""
        if self._has_shaken_hands:
            return
        self._lasting(self._shake_hands)
        self.capabilities = self._session.merge_capabilities()
        self._has_shaken_hands = True

    def tell(self, message: RefereeMessage) -> None:
        """Send a message that has no answer, and store it to send it again to a fresh program."""
        self._lasting(lambda: self._say(message))
        self._said.append(message)

    def begin_game(self) -> None:
        """Do nothing: a remote seat is opened for one game."""

    def new_game(self) -> None:
        """Send `uginewgame`."""
        if self.capabilities.newgame:
            self.tell(UgiNewGame())

    def ready(self) -> None:
        """Send `isready` and wait for `readyok`. Raises BotError (`stalled`)."""
        self._lasting(self._get_ready)
        self._is_ready = True

    def hear_offer(self) -> None:
        """Do nothing: bots do not receive draw offers."""

    def announce(self, result: UgiResult) -> None:
        """Send the result of the game if the bot asked for it; errors are ignored."""
        if self._is_open and self.capabilities.result:
            try:
                self._say(result)
            except (BotError, ProtocolError, LineLost, SandboxError):  # SandboxError: there is no lobby any more
                self._is_open = False

    def condemn(self) -> None:
        """Do nothing: a remote seat never plays a second game."""

    def close(self) -> None:
        """Disconnect; the program is ended on its author's machine."""
        if self._opened:
            self._opened.link.close()
            self._is_open = False

    def think(
        self, question: bytes, allowance_ms: float | None, known: Mapping[bytes, int] = MappingProxyType({})
    ) -> Thought:
        """Return the answer to `position … go …`, timed without the network. Raises as `LocalBot.think`."""
        used_ms = 0.0
        while True:
            asked_ns = 0
            try:
                if not self._is_open:
                    self._restore()
                asked_ns = time.monotonic_ns()
                left_ms = self.limits.move_ms if allowance_ms is None else max(1.0, allowance_ms - used_ms)
                thought = self._ask(
                    _with_less(question, self.side, used_ms), left_ms, is_timed=allowance_ms is not None
                )
            except LineLost as lost:
                # The clock ran until the last sign of life, not until the loss was noticed; and not during a restart.
                if asked_ns:
                    used_ms += max(0.0, (lost.since_ns - asked_ns) / _MS)
                self._wait_for_return(lost)
            else:
                thought.ms = round(thought.ms + used_ms, 3)
                return thought

    def _ask(self, question: bytes, allowance_ms: float, *, is_timed: bool) -> Thought:
        """Send `position … go …` once and return the answer. Raises BotError, LineLost."""
        link = self._link
        infos: deque[Info] = deque(maxlen=LAST_LINES)
        self._session.begin_turn()
        begin = time.monotonic_ns()
        link.say(question.decode().rstrip("\n"))
        answer = self._answer(
            begin + int((allowance_ms + self._account.allowance_ms(link.longest_ms)) * _MS), "thinking", infos
        )
        answer = answer or self._late_answer(begin, allowance_ms, infos, is_timed=is_timed)
        return self._judged(answer, begin, allowance_ms, summary(reversed(infos)))

    def _answer(self, deadline_ns: int, stage: str, infos: deque[Info]) -> BestMove | None:
        """Read until `bestmove`, and keep the last lines about the search; None at the deadline."""
        while (line := self._line(deadline_ns)) is not None:
            message = self._receive(line, stage)
            if isinstance(message, BestMove):
                return message
            if isinstance(message, Info) and (message.score is not None or message.nodes is not None):
                infos.append(message)
        return None

    def _judged(self, message: BestMove, begin_ns: int, allowance_ms: float, info: Info | None) -> Thought:
        """Return the answer with the time charged for it. Raises LineLost, or BotError (`time`) if it came too late."""
        link = self._link
        elapsed_ms = (link.arrived_ns - begin_ns) / _MS
        allowed_ms = min(elapsed_ms, self._account.allowance_ms(link.latency_ms))
        if elapsed_ms - allowed_ms > allowance_ms:  # perhaps because of the network
            longest_ms = link.check(begin_ns)
            allowed_ms = min(elapsed_ms - allowance_ms, self._account.allowance_ms(longest_ms))
            late_ms = elapsed_ms - allowed_ms - allowance_ms
            outage_ms = longest_ms + PING_MS if longest_ms > link.terms.move_ms else 0.0
            if late_ms > min(outage_ms, self._account.grace_left_ms):
                raise self._failed(
                    Termination.TIME,
                    f"answered after {elapsed_ms:.0f} ms, {allowed_ms:.0f} of them allowed for the network, "
                    f"{allowance_ms:.1f} ms were left",
                )
            self._account.paused_ms += max(0.0, late_ms)
            elapsed_ms -= max(0.0, late_ms)
        self._account.allowed_ms += allowed_ms
        return Thought(message.move, message.offer, max(0.0, elapsed_ms - allowed_ms), 0.0, info)

    def _late_answer(self, begin_ns: int, allowance_ms: float, infos: deque[Info], *, is_timed: bool) -> BestMove:
        """Handle a time-out: check the connection and wait for a late answer. Raises BotError, LineLost."""
        longest_ms = self._link.check(begin_ns)
        now = time.monotonic_ns()
        waited = f"no bestmove in {(now - begin_ns) / _MS:.0f} ms, {longest_ms:.0f} ms of them the network's at most"
        deadline = now + int((self.limits.grace_ms + longest_ms) * _MS)
        if self.capabilities.stop:
            self._link.say("stop")
        if answer := self._answer(deadline, "after its time was up", infos):
            return answer
        if is_timed:
            waited = f"{waited}; {allowance_ms:.1f} ms were left"
        raise self._failed(Termination.STALLED, waited)

    # -- a connection that may be lost ---------------------------------------------------------------------------------

    @property
    def _account(self) -> NetworkAccount:
        assert self._opened
        return self._opened

    @property
    def _link(self) -> LobbyLink:
        return self._account.link

    def _lasting(self, step: Callable[[], T]) -> T:
        """Run a step of the protocol; repeat it if the connection is lost meanwhile."""
        while True:
            try:
                if not self._is_open:
                    self._restore()
                return step()
            except LineLost as lost:
                self._wait_for_return(lost)

    def _wait_for_return(self, lost: LineLost) -> None:
        """Stop the clock and wait for the connection. Raises BotError (`disconnected`) after its grace period."""
        self._is_open = False
        self._account.losses += 1
        begin = min(lost.since_ns, time.monotonic_ns())
        has_returned = self._link.returns(begin + int(self._account.grace_left_ms * _MS))
        self._account.paused_ms += (time.monotonic_ns() - begin) / _MS
        if not has_returned or not self._account.grace_left_ms:
            lost_s, grace_s = self._account.paused_ms / 1000, self._link.terms.grace_ms / 1000
            raise self._failed(
                Termination.DISCONNECTED,
                f"was not connected for {lost_s:.1f} s of this game, {grace_s:g} s are allowed",
            )
        self._account.reconnected += 1

    def _restore(self) -> None:
        """Start a fresh program, then repeat the handshake, the options and `isready`. Raises LineLost."""
        self._link.open()
        # The fresh program has been sent nothing yet: the state of the old session would reject its handshake.
        self._session = RefereeSession(Capabilities.from_json(self.spec.capabilities))
        self._is_open = True
        if self._has_shaken_hands:
            self._shake_hands()
        for message in self._said:
            self._say(message)
        if self._is_ready:
            self._get_ready()

    # -- single steps --------------------------------------------------------------------------------------------------

    def _say(self, message: RefereeMessage) -> None:
        self._link.say(self._session.send(message).decode().rstrip("\n"))

    def _shake_hands(self) -> None:
        try:
            self._say(Ugi())
            self._expect(UgiOk, self.limits.start_ms, "`ugi`", Termination.HANDSHAKE_FAILED)
        except BotError as error:
            if error.termination in (Termination.CRASHED, Termination.STALLED, Termination.PROTOCOL_ERROR):
                raise BotError(Termination.HANDSHAKE_FAILED, error.detail) from None
            raise

    def _get_ready(self) -> None:
        self._say(IsReady())
        self._expect(ReadyOk, self.limits.ready_ms, "`isready`", Termination.STALLED)

    def _expect(self, kind: type[Message], deadline_ms: float, stage: str, silent: Termination) -> None:
        """Read until a message of class `kind` arrives. Raises LineLost, or BotError (`silent`) at the deadline."""
        begin = time.monotonic_ns()
        deadline = begin + int((deadline_ms + self._link.longest_ms) * _MS)
        # At the deadline the answer may be on its way: after a check, all that was written before has arrived.
        for is_checked in (False, True):
            while (line := self._line(deadline)) is not None:
                if isinstance(self._receive(line, stage), kind):
                    return
            if not is_checked:
                self._link.check(begin)
        raise self._failed(silent, f"no answer to {stage} in {deadline_ms / 1000:g} s")

    def _line(self, deadline_ns: int) -> bytes | None:
        """Return the next line; None at the deadline. Raises BotError (`crashed`, `output-limit`), LineLost."""
        try:
            line = self._link.line(deadline_ns)
        except ProgramGone as gone:
            raise self._failed(Termination.CRASHED, str(gone)) from None
        if line is not None:
            self._output_bytes += len(line) + 1
            if len(line) > self.limits.line_bytes:
                problem = f"a line of {len(line):,} bytes, {self.limits.line_bytes:,} are allowed"
                raise self._failed(Termination.OUTPUT_LIMIT, problem)
            if self._output_bytes > self.limits.output_bytes:
                problem = f"wrote more than {self.limits.output_bytes:,} bytes in one game"
                raise self._failed(Termination.OUTPUT_LIMIT, problem)
        return line

    def _receive(self, line: bytes, stage: str) -> Message | Stray:
        before = self._session.anomaly_count
        try:
            return self._session.receive(line)
        except ProtocolError as error:
            raise self._failed(Termination.PROTOCOL_ERROR, f"{error}, {stage}") from None
        finally:
            self.anomaly_count += self._session.anomaly_count - before

    def _failed(self, termination: Termination, detail: str) -> BotError:
        self._is_open = False
        return BotError(termination, detail)


def _with_less(question: bytes, side: int, used_ms: float) -> bytes:
    """Subtract the time that the bot used before its connection was lost from its time in `position … go …`."""
    if not used_ms:
        return question

    def less(match: re.Match[bytes]) -> bytes:
        return match[1] + b"%d" % max(1, int(match[2]) - int(used_ms))

    position, _, words = question.rpartition(b"\ngo ")
    return position + b"\ngo " + _MOVE_TIME.sub(less, _OWN_TIME[side].sub(less, words))
