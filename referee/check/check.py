"""Checks a bot step by step: handshake, variants, time, legality, stop, quit; and finds its capabilities.

The bot is sent the same messages as in games, by the same code. Each step keeps the lines exchanged. Required steps
decide whether the bot is fit; the first that fails ends the check. The other steps find capabilities, so that the
referee never sends messages that the bot does not support.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from protocol.capabilities import CLOCKS_OPTION
from protocol.errors import ProtocolError
from protocol.options import OPTION_FORM
from referee.check import ability, option
from referee.check.cause import REFUSED
from referee.check.examinee import LEGAL, BotUnderTest, Unfit
from referee.check.report import CheckReport, CheckStep
from referee.check.requirement import ANNOUNCES, FIRST_MOVE, HANDSHAKE, REQUIRED, SET_OPTION, TIME, Requirements
from referee.game.failure import BotError, SandboxError
from referee.game.spec import BotLimits, BotSpec
from referee.machine.sample_warmup import have_warm
from referee.rules.rules import Ruleset
from referee.sandbox import Sandbox

QUITS = "quits"
_OF_THE_MACHINE = "nothing: the sandbox failed, not the bot; `arena doctor` says what the machine lacks"

Ability = tuple[str, Callable[[BotUnderTest], str], str]
"""A step: its name, its function, and the advice if it fails."""
ABILITIES: tuple[Ability, ...] = (
    ("clocks", ability.clocks, "answer `go p1time … p2time …`; else it gets movetime"),
    ("search by depth", ability.depth, "answer `go depth 1`"),
    ("search by nodes", ability.nodes, "answer `go nodes 100`"),
    ("stop", ability.stop, "answer `stop` with `bestmove` at once"),
    ("isready again", ability.ready_again, "answer every `isready`"),
    ("query", ability.query, "nothing to do: games do without it; or answer `query gameover` with `response false`"),
    ("memory", ability.memory, ""),
    (QUITS, ability.leaves, "end the process on `quit`"),
)


class _Examiner:
    """Runs the steps of a check on one bot."""

    def __init__(self, requirements: Requirements, *, has_settings: bool) -> None:
        self.requirements = requirements
        self.examinee = requirements.examinee
        self.has_settings = has_settings
        """True if the bot's owner sets options: then the check finds the form of `setoption` that the bot accepts."""

    def steps(self, *, is_quick: bool) -> Iterator[CheckStep]:
        """Run the steps and yield each, up to the first required step that fails."""
        for step in self._quick_steps() if is_quick else self._all_steps():
            yield step
            if step.needed and not step.passed:
                return

    def _quick_steps(self) -> Iterator[CheckStep]:
        """Yield the few steps before a first game: only the handshake if the bot announces its clock support."""
        yield self._required(HANDSHAKE)
        if CLOCKS_OPTION in self.examinee.bot.session.options:
            return
        yield self._required(ANNOUNCES)
        yield self._required(FIRST_MOVE)
        if self.has_settings:
            yield self._required(SET_OPTION, needed=False)
        yield self._required(TIME, needed=False)
        yield from self._abilities(*(trial for trial in ABILITIES if trial[0] in ("clocks", "isready again")))

    def _all_steps(self) -> Iterator[CheckStep]:
        yield (first := self._required(HANDSHAKE))
        if faults := option.faults(first.lines):
            yield self._step("options", partial(option.refuse, faults), needed=False, advice=OPTION_FORM)
        yield self._required(ANNOUNCES)
        yield self._required(FIRST_MOVE)
        yield self._required(SET_OPTION, needed=False)
        yield self._required(TIME)
        assert self.examinee.home
        yield self._legal(self.examinee.home)
        yield from self._abilities(("positions", ability.positions, "take `position fen P`; else it gets `startpos`"))
        yield from map(self._legal, self.requirements.other_rulesets())
        yield from self._abilities(*ABILITIES)

    def _required(self, name: str, *, needed: bool = True) -> CheckStep:
        work, advice = REQUIRED[name]
        title = f"{name} {self.examinee.report.family}" if name == ANNOUNCES else name
        return self._step(title, partial(work, self.requirements), needed=needed, advice=advice)

    def _legal(self, ruleset: Ruleset) -> CheckStep:
        work = partial(self.requirements.ask_legal_moves, ruleset)
        return self._step(f"legal moves in {ruleset.variant.name}", work, advice=LEGAL)

    def _abilities(self, *asked: Ability) -> Iterator[CheckStep]:
        for name, work, advice in asked:
            yield self._step(name, partial(work, self.examinee), needed=False, advice=advice)

    def _step(self, name: str, work: Callable[[], str], *, needed: bool = True, advice: str = "") -> CheckStep:
        """Run a step; repeat it if the bot was too slow, since a busy machine may be the cause."""
        examinee, report, step = self.examinee, self.examinee.report, CheckStep(name, needed)
        report.steps.append(step)
        # A step that makes the bot unfit is tried twice before it counts, and once more if the machine is busy.
        tries = 1 + needed + report.measure_load()
        for count in range(1, tries + 1):
            self._try(step, work, advice)
            # Only a repetition under a listener tells which call was refused (see `SyscallFilter.reporting_program`).
            if needed and examinee.has_ended and examinee.is_filtered:
                self._name_refusals(step, work)
            if step.passed or not step.is_late:
                return step
            if report.measure_load() or count == tries:
                step.detail += f" ({count} of {tries} tries, {report.load_words})"
        return step

    def _name_refusals(self, step: CheckStep, work: Callable[[], str]) -> None:
        """Repeat a step in which the bot ended, and take over the cause if it was a refused system call."""
        examinee, repeated = self.examinee, CheckStep(step.name)
        examinee.record_refusals(True)
        self._try(repeated, work, step.advice)
        examinee.record_refusals(False)
        if REFUSED in repeated.detail:
            step.detail, step.said, step.advice = repeated.detail, repeated.said, repeated.advice

    def _try(self, step: CheckStep, work: Callable[[], str], advice: str) -> None:
        examinee = self.examinee
        step.advice, step.said, step.lines, step.is_late = advice, "", [], False
        examinee.has_ended = False
        try:
            if step.name != HANDSHAKE:
                examinee.revive()
            examinee.begin_step(step)
            step.detail = work()
            # A bot that ends after its answer would make the next step fail in its place.
            if step.name != QUITS:
                examinee.must_live()
            step.passed = True
        except BotError as error:
            cause = examinee.explain(error, examinee.transcript or step.lines, advice)
            step.detail, step.said, step.is_late = cause.detail, cause.said, not cause.is_certain
            step.advice = cause.advice if step.needed else advice
        except Unfit as error:
            step.detail, step.said, step.is_late = str(error), error.said, error.is_late
            step.advice = error.advice or advice
        except SandboxError as error:
            step.detail, step.advice = str(error), _OF_THE_MACHINE
        except ProtocolError as error:
            step.detail = f"the step cannot be asked: {error}"
        examinee.end_step(step)


def check(
    spec: BotSpec,
    rulesets: Sequence[Ruleset],
    sandbox: Sandbox,
    limits: BotLimits | None = None,
    on_step: Callable[[CheckStep], None] = lambda step: None,
    *,
    is_quick: bool = False,
    needs_all: bool = False,
    move_ms: int = 0,
) -> CheckReport:
    """Check a bot for the given rules (one family, one or more variants); never raises for faults of the bot.

    With `is_quick`, only the few steps before a first game are run. With `needs_all`, the bot must be able to play
    every variant; otherwise one variant is enough. The longest move time tried is `move_ms`, and the first move is
    requested with it; 0 = 15 s.
    """
    have_warm([spec], rulesets[0].rules.family)
    begin = time.monotonic()
    examinee = BotUnderTest(spec, rulesets, sandbox, limits or BotLimits())
    requirements = Requirements(examinee, rulesets, needs_all=needs_all, pace_ms=move_ms)
    examiner = _Examiner(requirements, has_settings=bool(spec.options))
    try:
        for step in examiner.steps(is_quick=is_quick):
            on_step(step)
    finally:
        examinee.close()
    examinee.report.capabilities = examinee.capabilities
    examinee.report.seconds = time.monotonic() - begin
    return examinee.report
