"""Examines a bot step by step: handshake, every variant, legality, timekeeping, stop, quit; finds what it can take.

Each step keeps the lines exchanged. Needed steps decide whether the bot is fit; the others become capabilities, so the
referee never sends the bot what it cannot take. Refuses to know where the report goes.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from protocol.capabilities import Capabilities
from protocol.errors import ProtocolError
from referee.bot import Bot, BotError, Thought
from referee.core import ParseError
from referee.play import prepare
from referee.position import Position
from referee.rules import Ruleset
from referee.sandbox import Sandbox
from referee.spec import BotSpec, Limits

SLACK_MS = 1000
"""How far a `movetime` may be overshot before the bot counts as unable to keep time."""


@dataclass(slots=True)
class Step:
    """One thing asked of the bot. `needed` steps decide fitness; `advice` says what to fix."""

    name: str
    needed: bool = True
    passed: bool = False
    detail: str = ""
    advice: str = ""
    lines: list[str] = field(default_factory=list)


@dataclass(slots=True)
class CheckReport:
    """All steps in order, and what was found."""

    command: tuple[str, ...]
    family: str
    steps: list[Step] = field(default_factory=list)
    name: str = ""
    author: str = ""
    capabilities: Capabilities = field(default_factory=Capabilities.default)
    log: str = ""

    @property
    def is_fit(self) -> bool:
        """Whether the bot may play: every needed step passed."""
        return bool(self.steps) and all(step.passed for step in self.steps if step.needed)

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "command": list(self.command),
            "family": self.family,
            "fit": self.is_fit,
            "name": self.name,
            "author": self.author,
            "capabilities": self.capabilities.as_json(),
            "steps": [
                {
                    "name": step.name,
                    "needed": step.needed,
                    "passed": step.passed,
                    "detail": step.detail,
                    "advice": step.advice,
                    "lines": step.lines,
                }
                for step in self.steps
            ],
            "log": self.log,
        }


class _Examiner:
    def __init__(self, spec: BotSpec, rulesets: Sequence[Ruleset], sandbox: Sandbox, limits: Limits) -> None:
        self.spec, self.rulesets, self.sandbox, self.limits = spec, rulesets, sandbox, limits
        self.report = CheckReport(spec.command, rulesets[0].rules.family)
        self.found = Capabilities.default()
        self.bot: Bot | None = None
        self.movetime_slack_ms = 0.0

    # -- steps ---------------------------------------------------------------------------------------------------

    def steps(self) -> Iterator[Step]:
        """Every step, as it is done."""
        first = self._step(
            "start and handshake", self._handshake, advice="answer `ugi` with id lines, options, `ugiok`"
        )
        yield first
        if not first.passed:
            return
        for ruleset in self.rulesets:
            entry = self._step(
                f"announces {ruleset.rules.family} {ruleset.variant.name}",
                partial(self._eligible, ruleset),
                advice="announce the options named here, or enter the bot for variants it knows only",
            )
            yield entry
            if not entry.passed:
                continue
            yield self._step(
                f"legal moves in {ruleset.variant.name}",
                partial(self._legal, ruleset),
                advice="play one of the legal moves of the position sent; `arena rules moves` lists them",
            )
        yield self._step("keeps a move time", self._movetime, advice="answer `go movetime 200` within its time")
        yield self._step(
            "clocks", self._clocks, needed=False, advice="answer `go p1time … p2time …`; else it gets movetime"
        )
        yield self._step("search limits", self._limits, needed=False, advice="answer `go depth 1` and `go nodes 100`")
        yield self._step("stop", self._stop, needed=False, advice="answer `stop` with `bestmove` at once")
        yield self._step("isready again", self._ready_again, needed=False, advice="answer every `isready`")
        yield self._step("query", self._query, needed=False, advice="answer `query gameover` with `response false`")
        yield self._step("quits", self._quit, needed=False, advice="end the process on `quit`")

    def _step(self, name: str, work: Callable[[], str], *, needed: bool = True, advice: str = "") -> Step:
        step = Step(name, needed, advice=advice)
        self.report.steps.append(step)
        try:
            if name != "start and handshake":
                self._revive()
            if self.bot:
                self.bot.transcript = step.lines
            step.detail = work()
            step.passed = True
        except (BotError, _Unfit) as error:
            step.detail = str(error)
        except ProtocolError as error:
            step.detail = f"the step cannot be asked: {error}"
        if self.bot:
            if not step.lines and self.bot.transcript:
                step.lines = self.bot.transcript
            self.report.log = self.bot.log or self.report.log
            self.bot.transcript = None
            if not self.bot.is_sound:
                self.bot.close()
                self.bot = None
        return step

    def _revive(self) -> None:
        """A bot that died in an earlier step is started again, so that one fault does not hide the others."""
        if self.bot is None:
            self._handshake()
            prepare(self._running(), self.rulesets[0])

    def _handshake(self) -> str:
        spec = replace(self.spec, capabilities=self.found.as_json() if self.report.name else {})
        self.bot = Bot(spec, self.limits, self.sandbox)
        self.bot.transcript = []
        begin = time.monotonic()
        self.bot.start()
        self.bot.handshake()
        session = self.bot.session
        self.report.name, self.report.author = session.name, session.author
        self.found = Capabilities.from_session(session)
        return (
            f"{session.name or 'no name'} by {session.author or 'nobody'}, {len(session.options)} options, "
            f"{1000 * (time.monotonic() - begin):.0f} ms"
        )

    def _running(self) -> Bot:
        assert self.bot
        return self.bot

    def _eligible(self, ruleset: Ruleset) -> str:
        assert self.bot
        families = self.bot.session.families
        if families and ruleset.rules.family not in families:
            raise _Unfit(f"announced the families {', '.join(families)}, not {ruleset.rules.family}")
        begin = time.monotonic()
        prepare(self.bot, ruleset)
        return f"ready in {1000 * (time.monotonic() - begin):.0f} ms"

    def _ask(self, position: Position, words: str, allowance_ms: float) -> Thought:
        assert self.bot
        thought = self.bot.think(f"position fen {position}\ngo {words}\n".encode(), allowance_ms)
        try:
            position.read(thought.move or "")
        except ParseError as error:
            raise _Unfit(f"played {thought.move!r}: {error}") from None
        except ValueError as error:
            raise _Unfit(f"played {thought.move!r}: {error}") from None
        return thought

    def _legal(self, ruleset: Ruleset) -> str:
        """The start and twelve random positions."""
        rng = random.Random(1)
        position, asked = Position.start(ruleset), 0
        for ply in range(60):
            if position.outcome is not None or not position.moves:
                position = Position.start(ruleset)
            if ply % 5 == 0:
                self._ask(position, "movetime 50", 5000)
                asked += 1
            position = position.play(position.moves[rng.randrange(len(position.moves))])
        return f"{asked} positions, {asked} legal moves"

    def _start(self) -> Position:
        return Position.start(self.rulesets[0])

    def _movetime(self) -> str:
        thought = self._ask(self._start(), "movetime 200", 200 + SLACK_MS)
        self.movetime_slack_ms = max(0.0, thought.ms - 200)
        return f"answered after {thought.ms:.0f} of 200 ms"

    def _clocks(self) -> str:
        self.found = replace(self.found, clocks=False)
        thought = self._ask(self._start(), "p1time 1000 p2time 1000 p1inc 50 p2inc 50", 1000)
        self.found = replace(self.found, clocks=True)
        return f"answered after {thought.ms:.0f} of 1000 ms"

    def _limits(self) -> str:
        one = self._ask(self._start(), "depth 1", 5000)
        two = self._ask(self._start(), "nodes 100", 5000)
        return f"depth 1 in {one.ms:.0f} ms, 100 nodes in {two.ms:.0f} ms"

    def _stop(self) -> str:
        """A search without end must answer `stop`."""
        assert self.bot
        self.found = replace(self.found, stop=False)
        bot = self.bot
        late = bot.limits
        bot.limits = replace(late, grace_ms=2000)
        bot.capabilities = replace(bot.capabilities, stop=True)
        begin = time.monotonic()
        try:
            bot.think(f"position fen {self._start()}\ngo infinite\n".encode(), 200)
        except BotError as error:
            if error.termination != "time":
                raise _Unfit(f"go infinite, then stop: {error.detail}") from None
            bot.is_sound = True
        finally:
            bot.limits = late
        self.found = replace(self.found, stop=True)
        return f"answered {1000 * (time.monotonic() - begin) - 200:.0f} ms after stop"

    def _ready_again(self) -> str:
        assert self.bot
        self.found = replace(self.found, repeated_isready=False)
        self.bot.capabilities = replace(self.bot.capabilities, repeated_isready=True)
        self.bot.ready()
        self.bot.ready()
        self.found = replace(self.found, repeated_isready=True)
        return "answered twice"

    def _query(self) -> str:
        assert self.bot
        self.found = replace(self.found, query="none")
        answer, is_bare = self.bot.query(f"position fen {self._start()}\n".encode(), "gameover", 1000)
        self.found = replace(self.found, query="bare" if is_bare else "response")
        if answer != "false":
            raise _Unfit(f"says {answer!r} of a game that has just begun")
        return "bare answer" if is_bare else "response"

    def _quit(self) -> str:
        assert self.bot
        begin = time.monotonic()
        if not self.bot.quit():
            raise _Unfit(f"still there {self.limits.quit_ms} ms after `quit`; it will be killed")
        return f"gone after {1000 * (time.monotonic() - begin):.0f} ms"


class _Unfit(Exception):  # noqa: N818 - a finding, not an error
    """The bot answered, but not as it should."""


def check(
    spec: BotSpec,
    rulesets: Sequence[Ruleset],
    sandbox: Sandbox,
    limits: Limits | None = None,
    on_step: Callable[[Step], None] = lambda step: None,
) -> CheckReport:
    """Examine a bot for the given rules (one family, one or more variants); never raises for what the bot does."""
    examiner = _Examiner(spec, rulesets, sandbox, limits or Limits())
    try:
        for step in examiner.steps():
            on_step(step)
    finally:
        if examiner.bot:
            examiner.bot.close()
    examiner.report.capabilities = examiner.found
    return examiner.report
