"""The bot under test: it is restarted after every exit, and never sent messages that it does not support."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from protocol.capabilities import Capabilities
from referee.bot.bot import LocalBot
from referee.bot.seat import Thought
from referee.check.cause import cause_of
from referee.check.evidence import Cause, Evidence
from referee.check.report import CheckReport, CheckStep
from referee.check.timing import MOVE_TIMES_MS
from referee.check.wrong_answer import FOREIGN_GREETINGS
from referee.game.failure import BotError, Reason
from referee.game.history import GameHistory
from referee.game.record import Ply
from referee.game.spec import BotLimits, BotSpec, GameSpec
from referee.play.player import Player, legal_line
from referee.rules.position import Position
from referee.rules.rules import Ruleset
from referee.sandbox import Sandbox

LEGAL = "play one of the legal moves of the position sent; `arena rules moves` lists them"
"""Advice for an illegal move."""


class Unfit(Exception):  # noqa: N818 - a finding, not an error
    """A wrong or late answer of the bot; `advice` replaces the advice of the step.

    `said` is the end of the bot's standard error. `is_late`: the bot was too slow, which a busy machine may cause.
    """

    def __init__(self, problem: str, advice: str = "", *, said: str = "", is_late: bool = False) -> None:
        super().__init__(problem)
        self.advice, self.said, self.is_late = advice, said, is_late


def _wrong_answer(thought: Thought, error: ValueError) -> Unfit:
    """Return what is wrong with a `bestmove` that has no legal move."""
    if thought.offer == "resign":
        return Unfit("answered `bestmove resign`, though there are legal moves", LEGAL)
    if not thought.move:
        return Unfit("answered `bestmove` without a move", LEGAL)
    if thought.move.casefold().startswith("resign"):
        return Unfit(f"answered `bestmove {thought.move[:60]}`, not a move", "resign by `bestmove resign`")
    return Unfit(f"played {thought.move!r}: {error}", LEGAL)


class BotUnderTest:
    """The bot under test and its known capabilities.

    `capabilities` are what it has shown so far. `home` is the first variant that it can play: steps that are about no
    particular variant use it. `history` is the present game, whose positions the bot is sent.
    """

    def __init__(self, spec: BotSpec, rulesets: Sequence[Ruleset], sandbox: Sandbox, limits: BotLimits) -> None:
        self.limits = limits
        self.report = CheckReport(spec.command, rulesets[0].rules.family)
        self.capabilities = Capabilities.default()
        self.home: Ruleset | None = None
        self.spec = spec
        self.ready_ms = 0.0
        self.has_ended = False
        """True if the last failure that was explained is the end of the bot's process."""
        self._default, self._sandbox = rulesets[0], sandbox
        self._bot: LocalBot | None = None
        self._is_known = self._was_asked = self.has_answered = False
        self._flushed = set[str]()
        """The first words of the answers that have arrived from any process of this check."""
        self._player: Player | None = None
        self.history: GameHistory | None = None

    @property
    def is_filtered(self) -> bool:
        """True if the bot's sandbox refuses system calls."""
        return self._sandbox.name != "none"

    def record_refusals(self, is_recorded: bool) -> None:
        """Choose whether the sandbox of the next process writes refused system calls to standard error."""
        self.close()
        self._sandbox = replace(self._sandbox, is_recorded=is_recorded)

    @property
    def bot(self) -> LocalBot:
        assert self._bot
        return self._bot

    def learn(self, **capabilities: Any) -> None:
        """Record capabilities."""
        self.capabilities = replace(self.capabilities, **capabilities)

    @property
    def fit_from_ms(self) -> int:
        """The shortest move time that the bot keeps; before it is known, the shortest one tried."""
        return self.report.timing.fit_from_ms or MOVE_TIMES_MS[0]

    def shake_hands(self) -> str:
        """Start the bot, shake hands and describe what it announced. Raises BotError and SandboxError."""
        spec = replace(self.spec, capabilities=self.capabilities.as_json() if self._is_known else {})
        bot = LocalBot(spec, self.limits, self._sandbox)
        self._bot, self._was_asked, self.has_answered = bot, False, False
        bot.wire.transcript = []
        begin = time.monotonic()
        bot.start()
        bot.handshake()
        self._flushed.add("ugiok")
        session = bot.session
        self.report.name, self.report.author, self._is_known = session.name, session.author, True
        self.capabilities = session.merge_capabilities()
        return (
            f"{session.name or 'no name'} by {session.author or 'nobody'}, {len(session.options)} options, "
            f"{1000 * (time.monotonic() - begin):.0f} ms"
        )

    def revive(self) -> None:
        """Restart a bot that died in an earlier step, so that one fault does not hide the others."""
        if self._bot is None:
            self.shake_hands()
            self.prepare()

    def restart(self, **capabilities: Any) -> None:
        """Record these capabilities and start a new process; the transcript of the step continues."""
        lines = self.bot.wire.transcript
        self.learn(**capabilities)
        self.report.log = self.bot.log or self.report.log
        self.bot.close()
        self.shake_hands()
        self.bot.wire.transcript = lines

    def prepare(self, ruleset: Ruleset | None = None) -> None:
        """Begin a game by these rules, by default those of the home variant. Raises BotError.

        Set `ready_ms`, the time that the bot itself took to get ready.
        """
        if self._is_used_up:
            self.restart()
        ruleset = ruleset or self.home or self._default
        spec = GameSpec(ruleset.rules.family, ruleset.variant.name, self.spec, self.spec, options=ruleset.overrides)
        self._take_up(GameHistory(spec))

    def _take_up(self, history: GameHistory) -> None:
        """Prepare the process for this game, which may have moves already. Raises BotError."""
        self.history = None
        self.report.log = self.bot.log or self.report.log  # a new game forgets it
        begin = time.monotonic()
        self._player = Player(self.bot, history)
        self.bot.ready()
        self._flushed.add("readyok")
        self.ready_ms = 1000 * (time.monotonic() - begin)
        self.history = history
        self._pass()

    @property
    def _is_used_up(self) -> bool:
        """True if the process plays one game only and has been asked for a move in it."""
        return self._was_asked and self.bot.plays_one_game

    def renew(self) -> None:
        """Restart the bot before the next question if its process may not be asked again. Raises BotError."""
        if self._is_used_up:
            history = self.history
            assert history
            self.restart()
            self._take_up(history)
        self._was_asked = True

    def go_home(self) -> None:
        """Begin a game of the home variant, unless the present game is one without moves."""
        home = self.home or self._default
        if self.history is None or self.history.moves or self.history.spec.variant != home.variant.name:
            self.prepare()

    def _pass(self) -> None:
        """Pass for a bot that does not implement the phase before regular play, until the phase ends."""
        assert self.history
        assert self._player
        while self.history.is_in_phase and self._player.passes_phase:
            self.history.push_pass()

    def play(self, move: str) -> None:
        assert self.history
        self.history.push_text(move, Ply())
        self._pass()

    @property
    def question(self) -> bytes:
        """The line `position …` of the present game."""
        assert self._player
        return self._player.position

    @property
    def position(self) -> Position:
        """The present position of the present game."""
        assert self.history
        return self.history.line.position()

    def ask(self, words: str, allowance_ms: float, fen: Position | None = None) -> Thought:
        """Return the bot's answer to `go WORDS` in the present game, or in the position `fen`.

        Raises BotError, or Unfit for an illegal move.
        """
        self.renew()
        question = self.question if fen is None else f"position fen {fen}".encode()
        position = fen or self.position
        legal = legal_line(self.bot, lambda: position)
        thought = self.bot.think(question + b"\n" + legal + f"go {words}\n".encode(), allowance_ms)
        self.has_answered = True
        self._flushed.add("bestmove")
        try:
            position.read(thought.move or "")
        except ValueError as error:
            raise _wrong_answer(thought, error) from None
        return thought

    def time(self, told_ms: int, timeout_ms: float) -> float:
        """Return how many milliseconds the answer to `go movetime` took, without the referee's lag. Raises as `ask`."""
        thought = self.ask(f"movetime {told_ms}", timeout_ms)
        return thought.ms - thought.lag_ms

    def explain(self, error: BotError, lines: Sequence[str], advice: str) -> Cause:
        """Return the cause of a failure. This may close the bot's input: do not use its process afterwards."""
        self.has_ended = error.exit_code is not None
        evidence = Evidence(error, self.spec, self.limits, lines, log=self.report.log, has_answered=self.has_answered)
        evidence = replace(evidence, flushed=frozenset(self._flushed))
        if self._bot and (bot := self._bot).process.child:
            evidence = replace(evidence, log=bot.wire.log, unfinished=bot.wire.unfinished)
            if error.reason is Reason.LATE and bot.process.is_running:
                # What comes at the end of the input is evidence, not part of the dialogue that the report shows.
                bot.wire.transcript, kept = None, bot.wire.transcript
                greetings = b"" if bot.has_shaken_hands else FOREIGN_GREETINGS
                evidence = replace(evidence, at_end=bot.wire.last_lines(self.limits.quit_ms, greetings))
                bot.wire.transcript = kept
        return cause_of(evidence, advice)

    def must_live(self) -> None:
        """Raise BotError if the bot's process has ended, even after an answer."""
        process = self.bot.process
        if process.is_sound and not process.is_running:
            raise process.hung_up("after its answer")

    @property
    def transcript(self) -> list[str]:
        """The lines exchanged in the present step."""
        return (self._bot and self._bot.wire.transcript) or []

    def begin_step(self, step: CheckStep) -> None:
        """Collect the lines exchanged from now on in this step."""
        if self._bot:
            self._bot.wire.transcript = step.lines

    def end_step(self, step: CheckStep) -> None:
        """Store transcript, log and peak memory in the step and the report; close the bot if it failed or exited."""
        bot, report = self._bot, self.report
        if bot is None:
            return
        step.lines = step.lines or bot.wire.transcript or []
        report.log = bot.wire.log or report.log
        report.peak_bytes = max(report.peak_bytes, bot.process.peak_bytes)
        bot.wire.transcript = None
        if not (bot.process.is_sound and bot.process.is_running):
            self.close()

    def close(self) -> None:
        """End the bot's process."""
        bot, self._bot, self.history = self._bot, None, None
        if bot:
            bot.close()
