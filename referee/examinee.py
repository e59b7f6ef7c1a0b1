"""A bot under examination: started again whenever it died, never sent what it was found not to take."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from protocol.capabilities import Capabilities
from referee.bot import Bot
from referee.check_report import CheckReport, Step
from referee.course import Course
from referee.player import Player
from referee.record import Ply
from referee.rules.position import Position
from referee.rules.rules import Ruleset
from referee.sandbox import Sandbox
from referee.seat import Thought
from referee.spec import BotSpec, GameSpec, Limits
from referee.timing import MOVE_TIMES_MS

LEGAL = "play one of the legal moves of the position sent; `arena rules moves` lists them"
"""What to do about a move that is none."""


class Unfit(Exception):  # noqa: N818 - a finding, not an error
    """The bot answered, but not as it should; `advice` where something else is to be done than about the step."""

    def __init__(self, problem: str, advice: str = "") -> None:
        super().__init__(problem)
        self.advice = advice


class Examinee:
    """A bot that is asked one thing after the other, and what is known of it by now.

    `found`: what it can take. `home`: the first variant it can play; what is about no variant is asked in it.
    `course`: the game it is asked about, as it would be played.
    """

    def __init__(self, spec: BotSpec, rulesets: Sequence[Ruleset], sandbox: Sandbox, limits: Limits) -> None:
        self.limits = limits
        self.report = CheckReport(spec.command, rulesets[0].rules.family)
        self.found = Capabilities.default()
        self.home: Ruleset | None = None
        self._spec, self._default, self._sandbox = spec, rulesets[0], sandbox
        self._bot: Bot | None = None
        self._is_known = False
        self._player: Player | None = None
        self.course: Course | None = None

    @property
    def bot(self) -> Bot:
        """The bot, which is running."""
        assert self._bot
        return self._bot

    def learn(self, **found: Any) -> None:
        """Note what it can take."""
        self.found = replace(self.found, **found)

    @property
    def fit_from_ms(self) -> int:
        """The move time it keeps, as far as is known."""
        return self.report.timing.fit_from_ms or MOVE_TIMES_MS[0]

    def shake_hands(self) -> str:
        """Start it and say hello; what it said of itself. Raises BotError and SandboxError."""
        spec = replace(self._spec, capabilities=self.found.as_json() if self._is_known else {})
        self._bot = bot = Bot(spec, self.limits, self._sandbox)
        bot.wire.transcript = []
        begin = time.monotonic()
        bot.start()
        bot.handshake()
        session = bot.session
        self.report.name, self.report.author, self._is_known = session.name, session.author, True
        self.found = session.merge_capabilities()
        return (
            f"{session.name or 'no name'} by {session.author or 'nobody'}, {len(session.options)} options, "
            f"{1000 * (time.monotonic() - begin):.0f} ms"
        )

    def revive(self) -> None:
        """A bot that died in an earlier step is started again, so that one fault does not hide the others."""
        if self._bot is None:
            self.shake_hands()
            self.prepare()

    def restart(self, **found: Any) -> None:
        """Begin again with a new process, knowing more of it; the lines of the step go on."""
        lines = self.bot.wire.transcript
        self.learn(**found)
        self.bot.close()
        self.shake_hands()
        self.bot.wire.transcript = lines

    def prepare(self, ruleset: Ruleset | None = None) -> None:
        """Begin a game by these rules, or by those of its home. Raises BotError."""
        ruleset = ruleset or self.home or self._default
        spec = GameSpec(ruleset.rules.family, ruleset.variant.name, self._spec, self._spec, options=ruleset.overrides)
        self.course = None
        course = Course(spec)
        self._player = Player(self.bot, course)
        self.bot.ready()
        self.course = course
        self._pass()

    def go_home(self) -> None:
        """Have it at the start of a game of the variant it plays best, whatever it was last asked about."""
        home = self.home or self._default
        if self.course is None or self.course.moves or self.course.spec.variant != home.variant.name:
            self.prepare()

    def _pass(self) -> None:
        """Go through the phase before play of a bot that does not know it."""
        assert self.course
        assert self._player
        while self.course.is_in_phase and self._player.passes_phase:
            self.course.push_pass()
            self._player.follow(self.course)

    def play(self, move: str) -> None:
        """A move of the game it is asked about, played by whoever is to move."""
        assert self.course
        assert self._player
        self.course.push_text(move, Ply())
        self._player.follow(self.course)
        self._pass()

    @property
    def question(self) -> bytes:
        """The line `position …` as a game has it."""
        assert self._player
        return self._player.position

    def ask(self, words: str, allowance_ms: float, fen: Position | None = None) -> Thought:
        """Its answer to `go WORDS` in the game, or in a position set up. Raises Unfit for no legal move, BotError."""
        assert self.course
        question = self.question if fen is None else f"position fen {fen}".encode()
        thought = self.bot.think(question + f"\ngo {words}\n".encode(), allowance_ms)
        position = fen or self.course.line.position()
        try:
            position.read(thought.move or "")
        except ValueError as error:
            raise Unfit(f"played {thought.move!r}: {error}", LEGAL) from None
        return thought

    def time(self, told_ms: int, patience_ms: float) -> float:
        """How long its answer to `go movetime` takes, the referee's own lateness taken off. Raises as `ask`."""
        thought = self.ask(f"movetime {told_ms}", patience_ms)
        return thought.ms - thought.lag_ms

    def must_live(self) -> None:
        """Raises BotError when its process has ended, whatever it has answered."""
        process = self.bot.process
        if process.is_sound and not process.is_running:
            raise process.hung_up("after its answer")

    def begin_step(self, step: Step) -> None:
        """Keep the lines that are exchanged from now on with a step."""
        if self._bot:
            self._bot.wire.transcript = step.lines

    def end_step(self, step: Step) -> None:
        """Take down what was seen of it; one that failed is put away."""
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
        """End its process."""
        bot, self._bot, self.course = self._bot, None, None
        if bot:
            bot.close()
