"""Examines a bot step by step: handshake, every variant, legality, timekeeping, stop, quit; finds what it can take.

Each step keeps the lines exchanged. Needed steps decide whether the bot is fit; the others become capabilities, so the
referee never sends the bot what it cannot take. Refuses to know where the report goes.
"""

from __future__ import annotations

import math
import random
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from protocol.capabilities import CLOCKS_OPTION, RESULT_OPTION, Capabilities
from protocol.errors import ProtocolError
from protocol.messages import SetOption
from protocol.options import OptionDecl
from referee.bot import Bot, Thought
from referee.failure import BotError, SandboxError
from referee.negotiate import prepare
from referee.rules.core import ParseError, Termination
from referee.rules.position import Position
from referee.rules.rules import Ruleset
from referee.sandbox import Sandbox
from referee.spec import BotSpec, Limits

SLACK_MS = 1000
"""How far a `movetime` may be overshot before the bot counts as unable to keep time."""
PATIENCE_MS = 5000
"""How long to wait for an answer that no clock limits."""
COSTLY_READY_MS = 250
"""A bot that takes longer for every `isready`, not the first alone, is sent one only."""
SOON_MS = 20
"""A `movetime` exceeded by less is within what the margin of a game covers."""


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
    peak_bytes: int = 0
    """The most memory it was seen to hold between the steps."""

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
            "peak_bytes": self.peak_bytes,
        }


HANDSHAKE = "start and handshake"
ARENA_OPTIONS = (CLOCKS_OPTION, RESULT_OPTION, "Variant", "Setup", "Family", "UGI_Reuse")
_EASY = ("check", "spin", "combo", "string")
_COMPLAINT = re.compile(r"error|unknown|unrecogni[sz]ed|invalid|no such", re.IGNORECASE)


class _Examiner:
    def __init__(self, spec: BotSpec, rulesets: Sequence[Ruleset], sandbox: Sandbox, limits: Limits) -> None:
        self.spec, self.rulesets, self.sandbox, self.limits = spec, rulesets, sandbox, limits
        self.report = CheckReport(spec.command, rulesets[0].rules.family)
        self.found = Capabilities.default()
        self.bot: Bot | None = None
        self.overshoot_ms = 0.0
        self.home: Ruleset | None = None
        """The first variant the bot announced: the steps that are about no variant are played in it."""
        self.prepared: Ruleset | None = None

    # -- steps ---------------------------------------------------------------------------------------------------

    def quick_steps(self) -> Iterator[Step]:
        """What must be known of a bot that says nothing of its clocks before it plays its first game."""
        first = self._step(HANDSHAKE, self._handshake)
        yield first
        if not first.passed or CLOCKS_OPTION in self._running().session.options:
            return
        entry = self._step("announces", partial(self._eligible, self.rulesets[0]))
        yield entry
        if not entry.passed:
            return
        if self.spec.options:
            yield self._step("setoption", self._setoption, needed=False)
        yield self._step("keeps a move time", self._movetime)
        yield self._step("clocks", self._clocks, needed=False)
        yield self._step("isready again", self._ready_again, needed=False)

    def steps(self) -> Iterator[Step]:
        """Every step, as it is done."""
        first = self._step(HANDSHAKE, self._handshake, advice="answer `ugi` with id lines, options, `ugiok`")
        yield first
        if not first.passed:
            return
        asks_options = True
        for ruleset in self.rulesets:
            entry = self._step(
                f"announces {ruleset.rules.family} {ruleset.variant.name}",
                partial(self._eligible, ruleset),
                advice="announce the options named here, or enter the bot for variants it knows only",
            )
            yield entry
            if not entry.passed:
                continue
            self.home = self.home or ruleset
            if asks_options:
                asks_options = False
                yield self._step(
                    "setoption",
                    self._setoption,
                    needed=False,
                    advice="take `setoption name N value V` for your options",
                )
            yield self._step(
                f"legal moves in {ruleset.variant.name}",
                partial(self._legal, ruleset),
                advice="play one of the legal moves of the position sent; `arena rules moves` lists them",
            )
        yield self._step("keeps a move time", self._movetime, advice="answer `go movetime 200` within its time")
        yield self._step(
            "clocks", self._clocks, needed=False, advice="answer `go p1time … p2time …`; else it gets movetime"
        )
        yield self._step("search by depth", self._depth, needed=False, advice="answer `go depth 1`")
        yield self._step("search by nodes", self._nodes, needed=False, advice="answer `go nodes 100`")
        yield self._step("stop", self._stop, needed=False, advice="answer `stop` with `bestmove` at once")
        yield self._step("isready again", self._ready_again, needed=False, advice="answer every `isready`")
        yield self._step("query", self._query, needed=False, advice="answer `query gameover` with `response false`")
        yield self._step("memory", self._memory, needed=False)
        yield self._step("quits", self._quit, needed=False, advice="end the process on `quit`")

    def _step(self, name: str, work: Callable[[], str], *, needed: bool = True, advice: str = "") -> Step:
        step = Step(name, needed, advice=advice)
        self.report.steps.append(step)
        try:
            if name != HANDSHAKE:
                self._revive()
            if self.bot:
                self.bot.wire.transcript = step.lines
            step.detail = work()
            step.passed = True
        except (BotError, SandboxError, _Unfit) as error:
            step.detail = str(error)
            if isinstance(error, BotError) and error.termination is Termination.MEMORY_LIMIT:
                step.advice = "use less memory, or allow it more: --memory MB"
        except ProtocolError as error:
            step.detail = f"the step cannot be asked: {error}"
        if self.bot:
            if not step.lines and self.bot.wire.transcript:
                step.lines = self.bot.wire.transcript
            self.report.log = self.bot.wire.log or self.report.log
            self.report.peak_bytes = max(self.report.peak_bytes, self.bot.process.peak_bytes)
            self.bot.wire.transcript = None
            if not self.bot.process.is_sound:
                self.bot.close()
                self.bot = None
        return step

    def _revive(self) -> None:
        """A bot that died in an earlier step is started again, so that one fault does not hide the others."""
        if self.bot is None:
            self._handshake()
            self._prepare(self.home or self.rulesets[0])

    def _handshake(self) -> str:
        spec = replace(self.spec, capabilities=self.found.as_json() if self.report.name else {})
        self.bot = Bot(spec, self.limits, self.sandbox)
        self.bot.wire.transcript = []
        begin = time.monotonic()
        self.bot.start()
        self.bot.handshake()
        session = self.bot.session
        self.report.name, self.report.author = session.name, session.author
        self.found = session.learned()
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
        try:
            self._prepare(ruleset)
        except BotError as error:
            if error.termination not in (Termination.CRASHED, Termination.STALLED) or not self.found.newgame:
                raise
            return self._without_newgame(ruleset, error)
        return f"ready in {1000 * (time.monotonic() - begin):.0f} ms"

    def _without_newgame(self, ruleset: Ruleset, problem: BotError) -> str:
        """A bot that does not get ready after `uginewgame` may do so without. Raises what it first failed by."""
        lines = self._running().wire.transcript
        self._restart(newgame=False)
        self._running().wire.transcript = lines
        try:
            self._prepare(ruleset)
        except BotError:
            self.found = replace(self.found, newgame=True)
            raise problem from None
        return f"ready, but not after `uginewgame`: {problem.detail}"

    def _restart(self, **found: Any) -> None:
        """Begin again with a new process, knowing more of it."""
        self.found = replace(self.found, **found)
        if self.bot:
            self.bot.close()
        self._handshake()

    def _setoption(self) -> str:
        """Set an option to what it is by default, in the usual style; after a complaint in the bare one."""
        usable = [option for option in self._running().session.options.values() if _harmless(option)]
        if not usable:
            return "no option to set"
        phase = self.rulesets[0].rules.phase
        ours = (*ARENA_OPTIONS, phase.announced_by if phase else "")
        option = min(usable, key=lambda option: (option.name in ours, _EASY.index(option.type)))
        setting = SetOption(option.name, option.default)
        problem = self._complaint(setting)
        if problem is None:
            return f"takes `{setting}`"
        lines = self._running().wire.transcript
        self._restart(setoption="bare")
        self._running().wire.transcript = lines
        self._prepare(self.home or self.rulesets[0])
        if self._complaint(setting) is None:
            return f"takes `{setting.bare()}` only ({problem})"
        self._restart(setoption="standard")
        self._prepare(self.home or self.rulesets[0])
        raise _Unfit(f"takes neither `{setting}` nor `{setting.bare()}`: {problem}")

    def _complaint(self, setting: SetOption) -> str | None:
        """What the bot has against an option being set; None when nothing. It must still play afterwards."""
        bot = self._running()
        lines = bot.wire.transcript if bot.wire.transcript is not None else []
        bot.wire.transcript = lines
        before = len(lines)
        try:
            bot.tell(setting)
            self._ask(self._start(), "movetime 50", PATIENCE_MS)
        except BotError as error:
            return error.detail
        said = (line for line in lines[before:] if line.startswith("< ") and not line.startswith("< bestmove"))
        return next((line[2:] for line in said if _COMPLAINT.search(line)), None)

    def _prepare(self, ruleset: Ruleset) -> None:
        prepare(self._running(), ruleset)
        self.prepared = ruleset

    def _ask(self, position: Position, words: str, allowance_ms: float) -> Thought:
        assert self.bot
        thought = self.bot.think(f"position fen {position}\ngo {words}\n".encode(), allowance_ms)
        if words.startswith("movetime"):
            self.overshoot_ms = max(self.overshoot_ms, thought.ms - thought.lag_ms - int(words.split()[1]))
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
                self._ask(position, "movetime 50", PATIENCE_MS)
                asked += 1
            position = position.play(position.moves[rng.randrange(len(position.moves))])
        return f"{asked} positions, {asked} legal moves"

    def _start(self) -> Position:
        return Position.start(self.home or self.rulesets[0])

    def _movetime(self) -> str:
        if self.home is not None and self.prepared is not self.home:
            self._prepare(self.home)
        thought = self._ask(self._start(), "movetime 200", 200 + SLACK_MS)
        if self.overshoot_ms > SOON_MS:
            self.found = replace(self.found, overshoot_ms=10 * math.ceil(self.overshoot_ms * 0.15))
        late = f", plan with {self.found.overshoot_ms} ms more" if self.found.overshoot_ms else ""
        return f"answered after {thought.ms:.0f} of 200 ms{late}"

    def _clocks(self) -> str:
        self.found = replace(self.found, clocks=False)
        thought = self._ask(self._start(), "p1time 1000 p2time 1000 p1inc 50 p2inc 50", 1000)
        self.found = replace(self.found, clocks=True)
        return f"answered after {thought.ms:.0f} of 1000 ms"

    def _depth(self) -> str:
        self.found = replace(self.found, depth=False)
        thought = self._ask(self._start(), "depth 1", PATIENCE_MS)
        self.found = replace(self.found, depth=True)
        return f"depth 1 in {thought.ms:.0f} ms"

    def _nodes(self) -> str:
        self.found = replace(self.found, nodes=False)
        thought = self._ask(self._start(), "nodes 100", PATIENCE_MS)
        self.found = replace(self.found, nodes=True)
        return f"100 nodes in {thought.ms:.0f} ms"

    def _stop(self) -> str:
        """A search without end must answer `stop`."""
        assert self.bot
        self.found = replace(self.found, stop=False)
        bot = self.bot
        bot.grace_ms = 2000
        bot.capabilities = replace(bot.capabilities, stop=True)
        begin = time.monotonic()
        try:
            bot.think(f"position fen {self._start()}\ngo infinite\n".encode(), 200)
        except BotError as error:
            if error.termination != "time":
                raise _Unfit(f"go infinite, then stop: {error.detail}") from None
            bot.process.is_sound = True
        finally:
            bot.grace_ms = self.limits.grace_ms
        self.found = replace(self.found, stop=True)
        waited = 1000 * (time.monotonic() - begin) - 200
        return f"answered {waited:.0f} ms after stop" if waited > 0 else "answered before it was told to stop"

    def _ready_again(self) -> str:
        assert self.bot
        self.found = replace(self.found, repeated_isready=False)
        self.bot.capabilities = replace(self.bot.capabilities, repeated_isready=True)
        times = []
        for _ in range(2):
            begin = time.monotonic()
            self.bot.ready()
            times.append(1000 * (time.monotonic() - begin))
        if min(times) > COSTLY_READY_MS:
            raise _Unfit(f"takes {min(times):.0f} ms each time, so it is sent once")
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

    def _memory(self) -> str:
        peak = max(self.report.peak_bytes, self._running().process.peak_bytes)
        allowed = f" of {self.limits.memory_bytes / 2**20:,.0f} allowed" if self.limits.memory_bytes else ""
        return f"{peak / 2**20:,.1f} MB at most{allowed}"

    def _quit(self) -> str:
        assert self.bot
        begin = time.monotonic()
        if not self.bot.quit():
            raise _Unfit(f"still there {self.limits.quit_ms} ms after `quit`; it will be killed")
        return f"gone after {1000 * (time.monotonic() - begin):.0f} ms"


class _Unfit(Exception):  # noqa: N818 - a finding, not an error
    """The bot answered, but not as it should."""


def _harmless(option: OptionDecl) -> bool:
    """Whether setting the option to its default is the same as leaving it alone."""
    return bool(option.default) and option.type in _EASY and "file" not in option.name.lower()


def check(
    spec: BotSpec,
    rulesets: Sequence[Ruleset],
    sandbox: Sandbox,
    limits: Limits | None = None,
    on_step: Callable[[Step], None] = lambda step: None,
    *,
    is_quick: bool = False,
) -> CheckReport:
    """Examine a bot for the given rules (one family, one or more variants); never raises for what the bot does.

    `is_quick` finds out only what the first game needs of a bot that does not announce its clocks.
    """
    examiner = _Examiner(spec, rulesets, sandbox, limits or Limits())
    try:
        for step in examiner.quick_steps() if is_quick else examiner.steps():
            on_step(step)
    finally:
        if examiner.bot:
            examiner.bot.close()
    examiner.report.capabilities = examiner.found
    return examiner.report
