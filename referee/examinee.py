"""A bot under examination: started again whenever it died, never sent what it was found not to take."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from protocol.capabilities import Capabilities
from referee.bot import Bot, Thought
from referee.check_report import CheckReport, Step
from referee.negotiate import prepare
from referee.rules.position import Position
from referee.rules.rules import Ruleset
from referee.sandbox import Sandbox
from referee.spec import BotSpec, Limits


class Unfit(Exception):  # noqa: N818 - a finding, not an error
    """The bot answered, but not as it should."""


class Examinee:
    """A bot that is asked one thing after the other, and what is known of it by now.

    `found`: what it can take. `home`: the first variant it announced; what is about no variant is asked in it.
    `overshoot_ms`: the most by which it exceeded a `movetime`.
    """

    def __init__(self, spec: BotSpec, rulesets: Sequence[Ruleset], sandbox: Sandbox, limits: Limits) -> None:
        self.limits = limits
        self.report = CheckReport(spec.command, rulesets[0].rules.family)
        self.found = Capabilities.default()
        self.home: Ruleset | None = None
        self.overshoot_ms = 0.0
        self._spec, self._default, self._sandbox = spec, rulesets[0], sandbox
        self._bot: Bot | None = None
        self._prepared: Ruleset | None = None

    @property
    def bot(self) -> Bot:
        """The bot, which is running."""
        assert self._bot
        return self._bot

    def learn(self, **found: Any) -> None:
        """Note what it can take."""
        self.found = replace(self.found, **found)

    def shake_hands(self) -> str:
        """Start it and say hello; what it said of itself. Raises BotError and SandboxError."""
        spec = replace(self._spec, capabilities=self.found.as_json() if self.report.name else {})
        self._bot = bot = Bot(spec, self.limits, self._sandbox)
        bot.wire.transcript = []
        begin = time.monotonic()
        bot.start()
        bot.handshake()
        session = bot.session
        self.report.name, self.report.author = session.name, session.author
        self.found = session.learned()
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
        """Make it ready for a game by these rules, or by those of its home. Raises BotError."""
        ruleset = ruleset or self.home or self._default
        prepare(self.bot, ruleset)
        self._prepared = ruleset

    def go_home(self) -> None:
        """Have it ready for the variant it plays best, whatever it was last asked about."""
        if self.home is not None and self._prepared is not self.home:
            self.prepare(self.home)

    def start_position(self) -> Position:
        """Where a game of its home begins."""
        return Position.start(self.home or self._default)

    def ask(self, words: str, allowance_ms: float, position: Position | None = None) -> Thought:
        """Its answer to `go WORDS`. Raises Unfit for what is no legal move, BotError."""
        position = position or self.start_position()
        thought = self.bot.think(f"position fen {position}\ngo {words}\n".encode(), allowance_ms)
        if words.startswith("movetime"):
            self.overshoot_ms = max(self.overshoot_ms, thought.ms - thought.lag_ms - int(words.split()[1]))
        try:
            position.read(thought.move or "")
        except ValueError as error:
            raise Unfit(f"played {thought.move!r}: {error}") from None
        return thought

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
        if not bot.process.is_sound:
            self.close()

    def close(self) -> None:
        """End its process."""
        bot, self._bot = self._bot, None
        if bot:
            bot.close()
