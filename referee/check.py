"""Examines a bot step by step: handshake, every variant, legality, timekeeping, stop, quit; finds what it can take.

Each step keeps the lines exchanged. Needed steps decide whether the bot is fit; the others become capabilities, so the
referee never sends the bot what it cannot take.
"""

from __future__ import annotations

import math
import random
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from protocol.capabilities import CLOCKS_OPTION, RESULT_OPTION
from protocol.errors import ProtocolError
from protocol.messages import SetOption
from protocol.options import OptionDecl
from referee.check_report import CheckReport, Step
from referee.examinee import Examinee, Unfit
from referee.failure import BotError, SandboxError
from referee.rules.core import Termination
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
HANDSHAKE = "start and handshake"
ARENA_OPTIONS = (CLOCKS_OPTION, RESULT_OPTION, "Variant", "Setup", "Family", "UGI_Reuse")
_EASY = ("check", "spin", "combo", "string")
_COMPLAINT = re.compile(r"error|unknown|unrecogni[sz]ed|invalid|no such", re.IGNORECASE)


class _Examiner:
    """Puts the questions to one examinee."""

    def __init__(self, examinee: Examinee, rulesets: Sequence[Ruleset], *, has_settings: bool) -> None:
        self.one = examinee
        self.rulesets = rulesets
        self.has_settings = has_settings
        """Whether its owner sets options of his own: then it must be known how it takes them."""

    def quick_steps(self) -> Iterator[Step]:
        """What must be known of a bot that says nothing of its clocks before it plays its first game."""
        first = self._step(HANDSHAKE, self.one.shake_hands)
        yield first
        if not first.passed or CLOCKS_OPTION in self.one.bot.session.options:
            return
        entry = self._step("announces", partial(self._eligible, self.rulesets[0]))
        yield entry
        if not entry.passed:
            return
        if self.has_settings:
            yield self._step("setoption", self._setoption, needed=False)
        yield self._step("keeps a move time", self._movetime)
        yield self._step("clocks", self._clocks, needed=False)
        yield self._step("isready again", self._ready_again, needed=False)

    def steps(self) -> Iterator[Step]:
        """Every step, as it is done."""
        first = self._step(HANDSHAKE, self.one.shake_hands, advice="answer `ugi` with id lines, options, `ugiok`")
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
            self.one.home = self.one.home or ruleset
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
        one, step = self.one, Step(name, needed, advice=advice)
        one.report.steps.append(step)
        try:
            if name != HANDSHAKE:
                one.revive()
            one.begin_step(step)
            step.detail = work()
            step.passed = True
        except (BotError, SandboxError, Unfit) as error:
            step.detail = str(error)
            if isinstance(error, BotError) and error.termination is Termination.MEMORY_LIMIT:
                step.advice = "use less memory, or allow it more: --memory MB"
        except ProtocolError as error:
            step.detail = f"the step cannot be asked: {error}"
        one.end_step(step)
        return step

    # -- what is asked -------------------------------------------------------------------------------------------

    def _eligible(self, ruleset: Ruleset) -> str:
        families = self.one.bot.session.families
        if families and ruleset.rules.family not in families:
            raise Unfit(f"announced the families {', '.join(families)}, not {ruleset.rules.family}")
        begin = time.monotonic()
        try:
            self.one.prepare(ruleset)
        except BotError as error:
            if error.termination not in (Termination.CRASHED, Termination.STALLED) or not self.one.found.newgame:
                raise
            return self._without_newgame(ruleset, error)
        return f"ready in {1000 * (time.monotonic() - begin):.0f} ms"

    def _without_newgame(self, ruleset: Ruleset, problem: BotError) -> str:
        """A bot that does not get ready after `uginewgame` may do so without. Raises what it first failed by."""
        self.one.restart(newgame=False)
        try:
            self.one.prepare(ruleset)
        except BotError:
            self.one.learn(newgame=True)
            raise problem from None
        return f"ready, but not after `uginewgame`: {problem.detail}"

    def _setoption(self) -> str:
        """Set an option to what it is by default, in the usual style; after a complaint in the bare one."""
        usable = [option for option in self.one.bot.session.options.values() if _harmless(option)]
        if not usable:
            return "no option to set"
        phase = self.rulesets[0].rules.phase
        ours = (*ARENA_OPTIONS, phase.announced_by if phase else "")
        option = min(usable, key=lambda option: (option.name in ours, _EASY.index(option.type)))
        setting = SetOption(option.name, option.default)
        problem = self._complaint(setting)
        if problem is None:
            return f"takes `{setting}`"
        self.one.restart(setoption="bare")
        self.one.prepare()
        if self._complaint(setting) is None:
            return f"takes `{setting.bare()}` only ({problem})"
        self.one.restart(setoption="standard")
        self.one.prepare()
        raise Unfit(f"takes neither `{setting}` nor `{setting.bare()}`: {problem}")

    def _complaint(self, setting: SetOption) -> str | None:
        """What the bot has against an option being set; None when nothing. It must still play afterwards."""
        bot = self.one.bot
        lines = bot.wire.transcript = [] if bot.wire.transcript is None else bot.wire.transcript
        before = len(lines)
        try:
            bot.tell(setting)
            self.one.ask("movetime 50", PATIENCE_MS)
        except BotError as error:
            return error.detail
        said = (line for line in lines[before:] if line.startswith("< ") and not line.startswith("< bestmove"))
        return next((line[2:] for line in said if _COMPLAINT.search(line)), None)

    def _legal(self, ruleset: Ruleset) -> str:
        """The start and twelve random positions."""
        rng = random.Random(1)
        position, asked = Position.start(ruleset), 0
        for ply in range(60):
            if position.outcome is not None or not position.moves:
                position = Position.start(ruleset)
            if ply % 5 == 0:
                self.one.ask("movetime 50", PATIENCE_MS, position)
                asked += 1
            position = position.play(position.moves[rng.randrange(len(position.moves))])
        return f"{asked} positions, {asked} legal moves"

    def _movetime(self) -> str:
        one = self.one
        one.go_home()
        thought = one.ask("movetime 200", 200 + SLACK_MS)
        if one.overshoot_ms > SOON_MS:
            one.learn(overshoot_ms=10 * math.ceil(one.overshoot_ms * 0.15))
        late = f", plan with {one.found.overshoot_ms} ms more" if one.found.overshoot_ms else ""
        return f"answered after {thought.ms:.0f} of 200 ms{late}"

    def _clocks(self) -> str:
        return f"answered after {self._can('clocks', 'p1time 1000 p2time 1000 p1inc 50 p2inc 50', 1000)} of 1000 ms"

    def _depth(self) -> str:
        return f"depth 1 in {self._can('depth', 'depth 1', PATIENCE_MS)} ms"

    def _nodes(self) -> str:
        return f"100 nodes in {self._can('nodes', 'nodes 100', PATIENCE_MS)} ms"

    def _can(self, capability: str, words: str, allowance_ms: float) -> str:
        """How many milliseconds it took for an answer; that it can is noted once it has answered."""
        self.one.learn(**{capability: False})
        thought = self.one.ask(words, allowance_ms)
        self.one.learn(**{capability: True})
        return f"{thought.ms:.0f}"

    def _stop(self) -> str:
        """A search without end must answer `stop`."""
        one, bot = self.one, self.one.bot
        one.learn(stop=False)
        bot.grace_ms = 2000
        bot.capabilities = replace(bot.capabilities, stop=True)
        begin = time.monotonic()
        try:
            bot.think(f"position fen {one.start_position()}\ngo infinite\n".encode(), 200)
        except BotError as error:
            if error.termination != "time":
                raise Unfit(f"go infinite, then stop: {error.detail}") from None
            bot.process.is_sound = True
        finally:
            bot.grace_ms = one.limits.grace_ms
        one.learn(stop=True)
        waited = 1000 * (time.monotonic() - begin) - 200
        return f"answered {waited:.0f} ms after stop" if waited > 0 else "answered before it was told to stop"

    def _ready_again(self) -> str:
        one, bot = self.one, self.one.bot
        one.learn(repeated_isready=False)
        bot.capabilities = replace(bot.capabilities, repeated_isready=True)
        times = []
        for _ in range(2):
            begin = time.monotonic()
            bot.ready()
            times.append(1000 * (time.monotonic() - begin))
        if min(times) > COSTLY_READY_MS:
            raise Unfit(f"takes {min(times):.0f} ms each time, so it is sent once")
        one.learn(repeated_isready=True)
        return "answered twice"

    def _query(self) -> str:
        one = self.one
        one.learn(query="none")
        answer, is_bare = one.bot.query(f"position fen {one.start_position()}\n".encode(), "gameover", 1000)
        one.learn(query="bare" if is_bare else "response")
        if answer != "false":
            raise Unfit(f"says {answer!r} of a game that has just begun")
        return "bare answer" if is_bare else "response"

    def _memory(self) -> str:
        one = self.one
        peak = max(one.report.peak_bytes, one.bot.process.peak_bytes)
        allowed = f" of {one.limits.memory_bytes / 2**20:,.0f} allowed" if one.limits.memory_bytes else ""
        return f"{peak / 2**20:,.1f} MB at most{allowed}"

    def _quit(self) -> str:
        begin = time.monotonic()
        if not self.one.bot.quit():
            raise Unfit(f"still there {self.one.limits.quit_ms} ms after `quit`; it will be killed")
        return f"gone after {1000 * (time.monotonic() - begin):.0f} ms"


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
    examinee = Examinee(spec, rulesets, sandbox, limits or Limits())
    examiner = _Examiner(examinee, rulesets, has_settings=bool(spec.options))
    try:
        for step in examiner.quick_steps() if is_quick else examiner.steps():
            on_step(step)
    finally:
        examinee.close()
    examinee.report.capabilities = examinee.found
    return examinee.report
