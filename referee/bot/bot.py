"""One running bot: sends questions to it and reads its answers.

Every read is bounded, every wait has a deadline, and every failure of a bot ends in one `BotError` with its termination
and the evidence:

    the process ended                                   crashed
    it closed a pipe but still runs                     protocol-error
    an answer without a question, or a second one       protocol-error
    no `readyok`, no `bestmove` ever, input not read    stalled
    `bestmove` after its time                           time
    a line too long, too many bytes                     output-limit
    too much memory, too many processes                 memory-limit, process-limit
    before `ugiok`: no such program, any of the first four; afterwards: the bot cannot play by the rules of the game
                                                        handshake-failed
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Collection, Mapping
from types import MappingProxyType

from protocol.capabilities import REUSE_OPTION, Capabilities
from protocol.errors import ProtocolError
from protocol.messages import (
    IsReady,
    Quit,
    ReadyOk,
    RefereeMessage,
    Response,
    Ugi,
    UgiNewGame,
    UgiOk,
    UgiQuery,
    UgiResult,
)
from protocol.options import OptionDecl
from protocol.session import RefereeSession
from protocol.turn import SessionState
from referee.bot.answer import AnswerReader, Turn, rounded_ms
from referee.bot.process import Process
from referee.bot.seat import Overshoot, Thought
from referee.bot.wire import Wire
from referee.game.failure import BotError, Reason, SandboxError
from referee.game.spec import BotLimits, BotSpec
from referee.rules.core import Termination
from referee.sandbox import Sandbox
from referee.sandbox.level import fault
from referee.sandbox.view import REFUSED_CALL
from referee.sandbox.watchdog import Watchdog

_MS = 1_000_000
_REFUSAL_HINT = (
    "sandbox: a system call was refused; `arena check` names it, docs/explanation/sandbox.md those that are allowed"
)
_JUST_NOW_NS = 100_000
"""Time after an answer in which the bot is not asked whether it has written more: two moves of instant bots."""


class LocalBot:
    """The seat of a bot on this machine: its `process`, the `wire` to it, the protocol `session` with it and the
    `reader` of its answers.

    Not thread-safe; one slot owns it. `stop_fd` becomes readable when the game is called off; then every wait raises
    Stopped. The bots of a slot share `watchdog`, so that waiting for one also watches the other. `overshoot` is
    the time by which the bot exceeds its move times, measured in its other processes too.
    """

    def __init__(
        self,
        spec: BotSpec,
        limits: BotLimits,
        sandbox: Sandbox,
        *,
        stop_fd: int | None = None,
        watchdog: Watchdog | None = None,
        overshoot: Overshoot | None = None,
    ) -> None:
        self.spec, self.side = spec, 0
        self.limits = limits
        self.session = RefereeSession(Capabilities.from_json(spec.capabilities))
        self.capabilities = Capabilities.default()
        """What the bot supports: as a check found and as it announced itself; known after the handshake."""
        self.rule_options: frozenset[str] = frozenset()
        """Options that the bot was sent for the rules of its last game; a game by other rules resets them."""
        self.overshoot = overshoot or Overshoot.expected(spec)
        self.has_answered = False
        """Whether this process has answered a move time; before its first answer it may have to load."""
        self._has_played = False
        """Whether a game was announced to this process and not yet forgotten."""
        self._has_been_ready = False
        self._is_slow = False
        """Whether the bot's last answer took longer than a moment."""
        self._sandbox = sandbox
        self.watchdog = watchdog or Watchdog()
        self.process = Process(spec, limits, sandbox, self.watchdog)
        self.wire = Wire(self.process, limits, stop_fd)
        self.reader = AnswerReader(self.process, self.wire, self.session, limits)

    def start(self) -> None:
        """Spawn the process. Raises SandboxError, or BotError (`handshake-failed`) if the command cannot be run."""
        if not self.process.is_running:
            self.process.start()
            self.wire.open()

    @property
    def has_shaken_hands(self) -> bool:
        """True once `ugiok` has arrived."""
        return self.session.state not in (SessionState.STARTED, SessionState.HANDSHAKE)

    @property
    def options(self) -> Mapping[str, OptionDecl]:
        """The options that the bot has announced, by name."""
        return self.session.options

    @property
    def families(self) -> Collection[str]:
        return self.session.families

    @property
    def anomaly_count(self) -> int:
        """Number of lines that broke the protocol without preventing play."""
        return self.session.anomaly_count

    @property
    def log(self) -> str:
        """The end of the bot's standard error; empty without a process. If it may have ended by a refused system call,
        the last line says how to find out.
        """
        log, process = self.wire.log if self.process.child else "", self.process
        has_ended = not (process.is_sound or process.is_running) and self._sandbox.name != "none"
        return f"{log.rstrip()}\n{_REFUSAL_HINT}\n" if has_ended and REFUSED_CALL.search(log) else log

    @property
    def plays_one_game(self) -> bool:
        """True if the bot asks for a fresh process for every game (`UGI_Reuse`)."""
        option = self.session.options.get(REUSE_OPTION)
        return option is not None and option.is_default("false")

    @property
    def is_reusable(self) -> bool:
        """True if the process may play another game: sound, running, and not asking for a fresh process."""
        is_idle = self.session.state is SessionState.IDLE
        is_well = self.process.is_sound and self.process.is_running
        return is_idle and is_well and self.capabilities.newgame and not self.plays_one_game

    def condemn(self) -> None:
        """Mark the process as unusable for another game, after a failure or a cancelled game."""
        self.process.is_sound = False

    @property
    def network(self) -> None:
        """Always None: a local bot has no network connection."""

    def hear_offer(self) -> None:
        """Do nothing: bots do not receive draw offers."""

    def close(self) -> None:
        """End the process: send `quit` if it is usable, kill it and its descendants, reap it, close all descriptors."""
        try:
            if self.process.ponder_limiter:
                # A suspended process could neither read `quit` nor exit.
                self.process.ponder_limiter.resume()
            if self.process.is_sound and self.process.child:
                farewell = b""
                with contextlib.suppress(ProtocolError):
                    farewell = self.session.send(Quit())
                self.wire.take_leave(farewell)
        finally:
            self.wire.close()
            self.process.end()

    def quit(self) -> bool:
        """Send `quit` and return whether the bot exited within `limits.quit_ms`. Call `close` afterwards."""
        with contextlib.suppress(BotError, ProtocolError):
            self.wire.write(self.session.send(Quit()))
        self.wire.drain()
        self.process.is_sound = False
        return not self.process.is_running

    def greet(self) -> None:
        """Send `ugi` if the handshake has not begun; do not wait. Raises BotError."""
        if self.session.state is SessionState.STARTED:
            self.wire.write(self.session.send(Ugi()))

    def handshake(self) -> None:
        """Shake hands: `ugi` … `ugiok`. Raises SandboxError, or BotError (`handshake-failed`, or a limit exceeded)."""
        if self.has_shaken_hands:
            return
        try:
            self.greet()
            self.reader.expect(UgiOk, self.limits.start_ms, "`ugi`", Termination.HANDSHAKE_FAILED)
        except BotError as error:
            self.process.is_sound = False
            if error.termination is Termination.CRASHED and self._sandbox.name != "none":
                # Whatever the bot printed, only a program of ours can show whether the sandbox itself works.
                reason = fault(self._sandbox, self.spec.command, self.spec.folder, self.limits)
                if reason:
                    raise SandboxError(f"sandbox {self._sandbox.name}: {reason}") from None
            # Before `ugiok` these all mean the same to its author: the bot does not get as far as a game.
            if error.termination in (Termination.CRASHED, Termination.STALLED, Termination.PROTOCOL_ERROR):
                raise BotError(
                    Termination.HANDSHAKE_FAILED, error.detail, exit_code=error.exit_code, reason=error.reason
                ) from None
            raise
        self.capabilities = self.session.merge_capabilities()

    def tell(self, message: RefereeMessage) -> None:
        """Send a message that has no answer."""
        self.wire.write(self.session.send(message))

    def ready(self) -> None:
        """Send `isready`, unless the bot accepts it only once, and wait for `readyok`. Raises BotError (`stalled`)."""
        if self.session.state is not SessionState.READYING:
            if not (question := self._ready_question()):
                return
            self.wire.write(question)
        self.reader.expect(ReadyOk, self.limits.ready_ms, "`isready`", Termination.STALLED)
        self._has_been_ready = True

    def _ready_question(self) -> bytes:
        """Return the `isready` line, or `b""` if the bot accepts no second one."""
        if self._has_been_ready and not self.capabilities.repeated_isready:
            return b""
        return self.session.send(IsReady())

    def begin_game(self) -> None:
        """Forget the game before: its lines on standard error, its bytes, its anomalies, its times out of turn.

        What a bot wrote before its first game belongs to that game: errors at its start are there. A second call has no
        effect before `new_game`.
        """
        if not self._has_played:
            return
        self._has_played = False
        self.wire.forget_log()
        self.wire.output_bytes = 0
        self.session.forget_anomalies()
        if self.process.queue:
            self.process.queue.start()
        if self.process.ponder_limiter:
            self.process.ponder_limiter.used_ns = 0

    def new_game(self) -> None:
        """Send `uginewgame` and `isready` without waiting."""
        self._has_played = True
        news = self.session.send(UgiNewGame()) if self.capabilities.newgame else b""
        if lines := news + self._ready_question():
            self.wire.write(lines)

    def query(self, position: bytes, question: str, deadline_ms: int) -> tuple[str, bool]:
        """Return the answer to `query`, and whether it lacked the word `response`. Raises BotError (`stalled`)."""
        self.wire.write(position + self.session.send(UgiQuery(question)))
        for line in self.reader.lines(deadline_ms, "`query`"):
            message = self.reader.receive(line, "`query`")
            if isinstance(message, Response):
                return message.value, not line.startswith(b"response")
        detail = f"no answer to `query {question}` in {deadline_ms / 1000:g} s"
        raise self.process.failed(Termination.STALLED, detail, reason=Reason.LATE)

    def announce(self, result: UgiResult) -> None:
        """Send the result of the game if the bot asked for it; errors are ignored."""
        if self.process.is_sound and self.capabilities.result:
            try:
                self.wire.write(self.session.send(result))
            except (BotError, ProtocolError):
                self.process.is_sound = False

    def think(
        self, question: bytes, allowance_ms: float | None, known: Mapping[bytes, int] = MappingProxyType({})
    ) -> Thought:
        """Send `position … go …` in one write and wait for `bestmove`; lift the limits on pondering meanwhile.

        `known` maps move texts that need no parsing to their codes.

        `allowance_ms` None means no clock: then `limits.move_ms` is the longest wait. The referee's lateness and the
        bot's run-queue delay, as the kernel counts them, are not charged. Raises BotError with `time` (answered late),
        `stalled` (did not answer), `crashed`, `protocol-error` or `output-limit`; Stopped if the game is called off.
        """
        wire, session, queue, limiter = self.wire, self.session, self.process.queue, self.process.ponder_limiter
        assert queue
        assert limiter
        limiter.end_wait()
        now_ns = time.monotonic_ns()
        if now_ns > self.watchdog.next_ns:
            self.watchdog.check_all()
        allowance_ns = int((self.limits.move_ms if allowance_ms is None else allowance_ms) * _MS)
        # Asking the kernel takes ten times as long as reading the clock. What a bot writes so soon after an answer, and
        # not with it, is read at a later turn.
        if wire.lines or (now_ns - wire.arrived_ns > _JUST_NOW_NS and wire.has_spoken):
            self.reader.catch_up()
        if self._is_slow:
            queue.begin()  # this takes longer than the turn of a bot that answers at once
        line = wire.ask(question, "thinking")
        if line is not None:
            elapsed = wire.arrived_ns - wire.asked_ns
            code = known.get(line[9:]) if line.startswith(b"bestmove ") else None
            if code is not None and elapsed - wire.lag_ns <= allowance_ns:
                session.complete_turn()
                self._is_slow = False
                limiter.begin_wait(wire.arrived_ns, elapsed)
                return Thought(None, None, rounded_ms(elapsed), rounded_ms(wire.lag_ns), None, code)
            # Not a known move in time: the line is read again, in the slow way.
            wire.lines.append(line)
        session.begin_turn()
        if not self._is_slow:
            queue.begin()
            self._is_slow = True
        self.reader.let_others_hear()
        turn = Turn(wire, queue, wire.asked_ns, allowance_ns)
        thought = self.reader.read(turn, allowance_ms, known, may_stop=self.capabilities.stop)
        limiter.begin_wait(wire.arrived_ns, wire.arrived_ns - wire.asked_ns)
        return thought
