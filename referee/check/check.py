"""Checks a bot step by step: handshake, variants, time, legality, stop, quit; and finds its capabilities.

The bot is sent the same messages as in games, by the same code. Each step keeps the lines exchanged. Required steps
decide whether the bot is fit; the first that fails ends the check. The other steps find capabilities, so that the
referee never sends messages that the bot does not support.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from statistics import median

from protocol.capabilities import CLOCKS_OPTION, shorten_movetime
from protocol.errors import ProtocolError
from protocol.negotiation import Ineligible
from protocol.options import OPTION_FORM
from referee.check import ability, option
from referee.check.cause import REFUSED, is_late
from referee.check.examinee import LEGAL, BotUnderTest, Unfit
from referee.check.report import MOVE_TIMES_MS, NO_ANSWER, CheckReport, CheckStep, find_timing, pace_of
from referee.game.failure import BotError, SandboxError
from referee.game.spec import BotLimits, BotSpec
from referee.machine.sample_warmup import have_warm
from referee.play.player import negotiate, negotiate_options
from referee.rules.core import Termination
from referee.rules.rules import Ruleset
from referee.sandbox import Sandbox

LEGAL_S = 60.0
"""Seconds in which legal moves are requested; afterwards one answer per further variant is enough."""
_SEVERAL = 3
"""Minimum number of answers to compute a bot's usual time from."""
HANDSHAKE, FIRST_MOVE, QUITS = "start and handshake", "first move", "quits"
_FIRST_MOVE_MS = (50, 200, 1000, 5000)
"""Move times at which a first move is requested, until a legal one comes, unless a pace is asked for or known."""
_GREETING = "answer `ugi` at once with id lines, options and `ugiok`; load tables and books at `isready`"
_NOTED_MS = 1000
"""A longer time to get ready is explained."""
FIRST_TIMEOUT_MS = MOVE_TIMES_MS[-1]
"""Time for the first answer, for which a bot may load and compile."""
_WALK, _ASK_EVERY = 60, 5
"""Plies of a random game from which positions are taken, and after how many plies the next one is: twelve in all."""

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

    def __init__(
        self,
        examinee: BotUnderTest,
        rulesets: Sequence[Ruleset],
        *,
        has_settings: bool,
        needs_all: bool,
        pace_ms: int,
    ) -> None:
        self.examinee = examinee
        self.rulesets = rulesets
        self.has_settings = has_settings
        """True if the bot's owner sets options: then the check finds the form of `setoption` that the bot accepts."""
        self.needs_all = needs_all
        self.move_times_ms: Sequence[int] = (
            (*(ms for ms in MOVE_TIMES_MS if ms < pace_ms), pace_ms) if pace_ms else MOVE_TIMES_MS
        )
        """The move times to try, fastest first."""
        self.pace_ms = pace_ms
        """The longest move time, at which the first move is requested; 0: 15 s, and any."""
        self.failure: Unfit | None = None
        """The last failure at a move time that may be too short for the bot."""
        self.answered_ms = 0
        """The move time of the first answer."""
        self.first_late_ms = 0.0
        """The time by which the first answer exceeded its move time."""
        self.legal_until = 0.0
        """The end of the time in which legal moves are requested; 0 before the first."""

    @property
    def first_timeout_ms(self) -> int:
        """Time for the first answer, for which a bot may load and compile."""
        return max(FIRST_TIMEOUT_MS, self.pace_ms)

    def quick_steps(self) -> Iterator[CheckStep]:
        """Yield the few steps before a first game: only the handshake if the bot announces its clock support."""
        yield (first := self._step(HANDSHAKE, self.examinee.shake_hands))
        if not first.passed or CLOCKS_OPTION in self.examinee.bot.session.options:
            return
        yield (entry := self._step("announces", self._eligible))
        if not entry.passed:
            return
        yield (move := self._step(FIRST_MOVE, self._first_move))
        if not move.passed:
            return
        if self.has_settings:
            yield self._step("setoption", self._set_option, needed=False)
        yield self._step("time for a move", self._time, needed=False)
        yield from self._abilities(*(trial for trial in ABILITIES if trial[0] in ("clocks", "isready again")))

    def steps(self) -> Iterator[CheckStep]:
        """Run the steps and yield each, up to the first required step that fails."""
        for step in self._all_steps():
            yield step
            if step.needed and not step.passed:
                return

    def _all_steps(self) -> Iterator[CheckStep]:
        step, examinee = self._step, self.examinee
        yield (first := step(HANDSHAKE, examinee.shake_hands, advice=_GREETING))
        if faults := option.faults(first.lines):
            yield step("options", partial(option.refuse, faults), needed=False, advice=OPTION_FORM)
        yield step(
            f"announces {self.rulesets[0].rules.family}",
            self._eligible,
            advice="announce the options named here, or check what it plays: --variant NAME",
        )
        yield step(FIRST_MOVE, self._first_move, advice="answer `go movetime MS` with `bestmove M`")
        yield step(
            "setoption", self._set_option, needed=False, advice="take `setoption name N value V` for your options"
        )
        yield step("time for a move", self._time, advice="answer `go movetime MS` before its time is up")
        legal = LEGAL
        assert examinee.home
        yield step(f"legal moves in {examinee.home.variant.name}", partial(self._legal, examinee.home), advice=legal)
        yield from self._abilities(("positions", ability.positions, "take `position fen P`; else it gets `startpos`"))
        for ruleset in self._others():
            yield step(f"legal moves in {ruleset.variant.name}", partial(self._legal, ruleset), advice=legal)
        yield from self._abilities(*ABILITIES)

    def _abilities(self, *asked: Ability) -> Iterator[CheckStep]:
        for name, work, advice in asked:
            yield self._step(name, partial(work, self.examinee), needed=False, advice=advice)

    def _step(self, name: str, work: Callable[[], str], *, needed: bool = True, advice: str = "") -> CheckStep:
        """Run a step; repeat it if the bot was too slow, since a busy machine may be the cause."""
        examinee, report, step = self.examinee, self.examinee.report, CheckStep(name, needed)
        report.steps.append(step)
        # A step that makes the bot unfit is tried twice before it counts, and once more if the machine is busy.
        tries = 1 + needed + report.is_busy
        for count in range(1, tries + 1):
            self._try(step, work, advice)
            # Only a repetition under a listener tells which call was refused (see `SyscallFilter.reporting_program`).
            if needed and examinee.has_ended and examinee.is_filtered:
                self._name_refusals(step, work)
            if step.passed or not step.is_late:
                return step
            if report.is_busy or count == tries:
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
        """Run a step once."""
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
            step.detail = str(error)
        except ProtocolError as error:
            step.detail = f"the step cannot be asked: {error}"
        examinee.end_step(step)

    # -- steps ---------------------------------------------------------------------------------------------------

    def _eligible(self) -> str:
        """Find the variants that the bot can play by its announced options, and prepare it for the first of them."""
        examinee, refused = self.examinee, self.examinee.report.refused
        families, family = examinee.bot.session.families, self.rulesets[0].rules.family
        if families and family not in families:
            raise Unfit(
                f"announced the families {', '.join(families)}, not {family}",
                f"announce `id family {family}`, or check what it plays: --family {families[0]}",
            )
        begin = time.monotonic()
        for ruleset in self.rulesets:
            plan = negotiate(examinee.bot, ruleset)
            if isinstance(plan, Ineligible):
                refused[ruleset.variant.name] = plan.reason
            else:
                examinee.home = examinee.home or ruleset
        if examinee.home is None or (refused and self.needs_all):
            raise Unfit("; ".join(dict.fromkeys(refused.values())), self._what_it_plays())
        with_help = self._get_ready(examinee.home)
        left_out = f"; not playable: {', '.join(refused)}" if refused else ""
        loading_ms = 1000 * (time.monotonic() - begin) - examinee.ready_ms
        own = f"; the arena loaded its rules in {loading_ms:.0f} ms" if loading_ms > _NOTED_MS else ""
        busy = f" ({examinee.report.load_words})" if examinee.ready_ms > _NOTED_MS and examinee.report.is_busy else ""
        return with_help or f"ready in {examinee.ready_ms:.0f} ms{busy}{left_out}{own}"

    def _what_it_plays(self) -> str:
        """Return advice that names variants which the bot can play."""
        rules, bot = self.rulesets[0].rules, self.examinee.bot
        can_play = [
            variant.name
            for variant in rules.variants
            if not isinstance(negotiate(bot, rules.settle(variant.name)), Ineligible)
        ]
        if any(ruleset.overrides and ruleset.variant.name in can_play for ruleset in self.rulesets):
            return "announce the rules named here, or leave out --option"
        words = " or ".join(f"--variant {name}" for name in can_play[:3])
        return f"announce the options named here, or check what it plays: {words or '--family FAMILY'}"

    def _get_ready(self, ruleset: Ruleset) -> str:
        """Begin a game, without `uginewgame` if the bot is not ready after it; return a remark in that case."""
        try:
            self.examinee.prepare(ruleset)
        except BotError as error:
            if (
                error.termination not in (Termination.CRASHED, Termination.STALLED)
                or not self.examinee.capabilities.newgame
            ):
                raise
            return self._without_newgame(ruleset, error)
        return ""

    def _without_newgame(self, ruleset: Ruleset, problem: BotError) -> str:
        """Retry without `uginewgame`, since the bot was not ready after it. Raises `problem` if the retry fails too."""
        self.examinee.restart(newgame=False)
        try:
            self.examinee.prepare(ruleset)
        except BotError:
            self.examinee.learn(newgame=True)
            raise problem from None
        return f"ready, but not after `uginewgame`: {problem.detail}"

    def _first_move(self) -> str:
        """Request a move in the start position, again with more time if there is no answer or an illegal one."""
        examinee, advice = self.examinee, "answer `go movetime MS` with `bestmove M`"
        cause: Unfit | None = None
        for move_ms in self._first_times_ms():
            examinee.go_home()
            # Only the first question may have to wait until the bot has loaded and compiled.
            timeout_ms = max(ability.ANSWER_TIMEOUT_MS, 2 * move_ms) if cause else self.first_timeout_ms
            try:
                took_ms = examinee.time(move_ms, timeout_ms)
            except Unfit as error:
                cause = cause or error
            except BotError as error:
                has_crashed = error.termination is Termination.CRASHED
                if not (has_crashed or is_late(error)):
                    raise
                diagnosis = examinee.explain(error, examinee.transcript, advice)
                cause = cause or Unfit(diagnosis.detail, diagnosis.advice, said=diagnosis.said)
                # More time may cure a crash or a late answer, but no misspelt one.
                if diagnosis.is_certain and not has_crashed:
                    break
                try:
                    examinee.restart()
                    examinee.prepare()
                except BotError:
                    break
            else:
                self.first_late_ms, self.answered_ms = took_ms - move_ms, move_ms
                if cause:  # in a game, the time sent may be half of the move time
                    longest = self.move_times_ms[-1]
                    self.move_times_ms = [ms for ms in self.move_times_ms if ms >= 2 * move_ms] or [longest]
                return f"in {took_ms:.0f} ms, but not with less than {move_ms} ms" if cause else f"in {took_ms:.0f} ms"
        assert cause
        raise cause

    def _first_times_ms(self) -> tuple[int, ...]:
        """Return the move times of the first questions: the pace asked for, or from the one that the bot's file has."""
        if self.pace_ms:
            return (self.pace_ms,)
        known_ms = int(self.examinee.spec.capabilities.get("fit_from_ms", 0))
        return (known_ms, *(ms for ms in _FIRST_MOVE_MS if ms > known_ms)) if known_ms else _FIRST_MOVE_MS

    def _set_option(self) -> str:
        return option.set_default(self.examinee, self.answered_ms, self.first_timeout_ms)

    def _time(self) -> str:
        """Find the shortest move time that the bot keeps, and its overshoot."""
        examinee = self.examinee
        examinee.go_home()
        has_answered = examinee.has_answered
        timing = examinee.report.timing = find_timing(self._took_ms, self.move_times_ms, examinee.limits.margin_ms)
        # A late answer of a process that has answered before says nothing of first answers.
        timing.first_ms = max(0.0 if has_answered else timing.first_ms, self.first_late_ms)
        if timing.fit_from_ms is None and self.failure:
            raise self.failure
        if timing.fit_from_ms is None:
            longest = self.move_times_ms[-1] / 1000
            raise Unfit(f"needs {timing.least_ms / 1000:.1f} s for a move; {longest:g} s are allowed", is_late=True)
        examinee.learn(
            fit_from_ms=timing.fit_from_ms,
            overshoot_ms=timing.overshoot_ms,
            first_overshoot_ms=timing.first_overshoot_ms,
        )
        late = f", exceeds its time by {timing.overshoot_ms} ms" if timing.overshoot_ms else ""
        first = f", its first answer by {timing.first_overshoot_ms} ms" if timing.first_overshoot_ms else ""
        return f"fit from {timing.fit_from_ms / 1000:g} s a move{late}{first}; {examinee.report.load_words}"

    def _took_ms(self, told_ms: int, timeout_ms: float) -> float:
        """Return the time of an answer; NO_ANSWER if the bot crashes or has no legal move, since the time may be too
        short for it. Raises BotError for other failures.
        """
        examinee = self.examinee
        try:
            return examinee.time(told_ms, timeout_ms)
        except (BotError, Unfit) as error:
            if isinstance(error, Unfit):
                self.failure = error
                return NO_ANSWER
            if error.termination is not Termination.CRASHED:
                raise
            cause = examinee.explain(error, examinee.transcript, "")
            self.failure = Unfit(cause.detail, cause.advice, said=cause.said)
        examinee.restart()
        examinee.prepare()
        return NO_ANSWER

    def _others(self) -> list[Ruleset]:
        """Return the further variants that the bot can play, now that its capability to set up positions is known."""
        examinee, others = self.examinee, []
        for ruleset in self.rulesets:
            if ruleset is examinee.home or ruleset.variant.name in examinee.report.refused:
                continue
            examinee.revive()
            session, from_start = examinee.bot.session, examinee.capabilities.startpos_only
            plan = negotiate_options(session.options, session.families, ruleset, startpos_only=from_start)
            if isinstance(plan, Ineligible):
                examinee.report.refused[ruleset.variant.name] = plan.reason
            else:
                others.append(ruleset)
        return others

    def _legal(self, ruleset: Ruleset) -> str:
        """Request moves in up to twelve positions of random games, sent as the start and the moves so far."""
        examinee, rng = self.examinee, random.Random(1)
        self.legal_until = self.legal_until or time.monotonic() + LEGAL_S
        took: list[float] = []
        told_ms = shorten_movetime(self.examinee.fit_from_ms, examinee.capabilities.overshoot_ms)
        examinee.prepare(ruleset)
        for ply in range(_WALK):
            assert examinee.history
            if examinee.history.line.outcome is not None:
                examinee.prepare(ruleset)
            if ply % _ASK_EVERY == 0 and (not took or time.monotonic() < self.legal_until):
                took.append(examinee.time(told_ms, max(MOVE_TIMES_MS[-1], 2 * self.examinee.fit_from_ms)))
                examinee.report.timing.add(told_ms, took[-1])
            legal = examinee.history.line.legal()
            examinee.play(ruleset.rules.notation.write_move(int(legal[rng.randrange(len(legal))])))
        if len(took) >= _SEVERAL:
            self._slow_down(median(took))
        examinee.report.variants.append(ruleset.variant.name)
        return f"{len(took)} positions, {len(took)} legal moves"

    def _slow_down(self, usual_ms: float) -> None:
        """Raise the shortest move time if later positions take longer than the start. Raises Unfit."""
        examinee, timing = self.examinee, self.examinee.report.timing
        if usual_ms > self.examinee.fit_from_ms + examinee.limits.margin_ms:
            longest = self.move_times_ms[-1]
            timing.fit_from_ms = min(pace_of(usual_ms), longest) if usual_ms <= longest else None
            if timing.fit_from_ms is None:
                raise Unfit(
                    f"needs {usual_ms / 1000:.1f} s for a move; {longest / 1000:g} s are allowed",
                    is_late=True,
                )
            examinee.learn(fit_from_ms=timing.fit_from_ms)
        examinee.learn(overshoot_ms=timing.overshoot_ms)


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
    examiner = _Examiner(
        examinee,
        rulesets,
        has_settings=bool(spec.options),
        needs_all=needs_all,
        pace_ms=move_ms,
    )
    try:
        for step in examiner.quick_steps() if is_quick else examiner.steps():
            on_step(step)
    finally:
        examinee.close()
    examinee.report.capabilities = examinee.capabilities
    examinee.report.seconds = time.monotonic() - begin
    return examinee.report
