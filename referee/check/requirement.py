"""The required steps of a check: what the bot announces, its first move, its speed and its legal moves.

Each returns a phrase for the report, and raises Unfit or BotError if the bot fails it.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median

from protocol.capabilities import shorten_movetime
from protocol.negotiation import Ineligible
from referee.check import ability, option
from referee.check.examinee import BotUnderTest, Unfit
from referee.check.timing import MOVE_TIMES_MS, NO_ANSWER, find_timing, pace_of
from referee.game.failure import BotError, Reason
from referee.play.player import negotiate, negotiate_options
from referee.rules.core import Termination
from referee.rules.rules import Ruleset

LEGAL_S = 60.0
"""Seconds in which legal moves are requested; afterwards one answer per further variant is enough."""
_SEVERAL = 3
"""Minimum number of answers to compute a bot's usual time from."""
_FIRST_MOVE_MS = (50, 200, 1000, 5000)
"""Move times at which a first move is requested, until a legal one comes, unless a pace is asked for or known."""
_ANSWER = "answer `go movetime MS` with `bestmove M`"
_NOTED_MS = 1000
"""A longer time to get ready is explained."""
FIRST_TIMEOUT_MS = MOVE_TIMES_MS[-1]
"""Time for the first answer, for which a bot may load and compile."""
_WALK, _ASK_EVERY = 60, 5
"""Plies of a random game from which positions are taken, and after how many plies the next one is: twelve in all."""


class Requirements:
    """The required steps for one bot, and what each finds that the next ones need."""

    def __init__(self, examinee: BotUnderTest, rulesets: Sequence[Ruleset], *, needs_all: bool, pace_ms: int) -> None:
        self.examinee = examinee
        self.rulesets = rulesets
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

    def find_variants(self) -> str:
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
        is_noted = examinee.ready_ms > _NOTED_MS and examinee.report.measure_load()
        busy = f" ({examinee.report.load_words})" if is_noted else ""
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

    def ask_first_move(self) -> str:
        """Request a move in the start position, again with more time if there is no answer or an illegal one."""
        examinee = self.examinee
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
                if not (has_crashed or error.reason is Reason.LATE):
                    raise
                diagnosis = examinee.explain(error, examinee.transcript, _ANSWER)
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

    def set_option(self) -> str:
        return option.set_default(self.examinee, self.answered_ms, self.first_timeout_ms)

    def measure_time(self) -> str:
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

    def other_rulesets(self) -> list[Ruleset]:
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

    def ask_legal_moves(self, ruleset: Ruleset) -> str:
        """Request moves in up to twelve positions of random games, sent as the start and the moves so far."""
        examinee, rng = self.examinee, random.Random(1)
        self.legal_until = self.legal_until or time.monotonic() + LEGAL_S
        took: list[float] = []
        told_ms = shorten_movetime(examinee.fit_from_ms, examinee.capabilities.overshoot_ms)
        examinee.prepare(ruleset)
        for ply in range(_WALK):
            assert examinee.history
            if examinee.history.line.outcome is not None:
                examinee.prepare(ruleset)
            if ply % _ASK_EVERY == 0 and (not took or time.monotonic() < self.legal_until):
                took.append(examinee.time(told_ms, max(MOVE_TIMES_MS[-1], 2 * examinee.fit_from_ms)))
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
        if usual_ms > examinee.fit_from_ms + examinee.limits.margin_ms:
            longest = self.move_times_ms[-1]
            timing.fit_from_ms = min(pace_of(usual_ms), longest) if usual_ms <= longest else None
            if timing.fit_from_ms is None:
                raise Unfit(
                    f"needs {usual_ms / 1000:.1f} s for a move; {longest / 1000:g} s are allowed",
                    is_late=True,
                )
            examinee.learn(fit_from_ms=timing.fit_from_ms)
        examinee.learn(overshoot_ms=timing.overshoot_ms)


HANDSHAKE, ANNOUNCES, FIRST_MOVE = "start and handshake", "announces", "first move"
SET_OPTION, TIME = "setoption", "time for a move"
REQUIRED: Mapping[str, tuple[Callable[[Requirements], str], str]] = {
    HANDSHAKE: (
        lambda requirements: requirements.examinee.shake_hands(),
        "answer `ugi` at once with id lines, options and `ugiok`; load tables and books at `isready`",
    ),
    ANNOUNCES: (Requirements.find_variants, "announce the options named here, or check what it plays: --variant NAME"),
    FIRST_MOVE: (Requirements.ask_first_move, _ANSWER),
    SET_OPTION: (Requirements.set_option, "take `setoption name N value V` for your options"),
    TIME: (Requirements.measure_time, "answer `go movetime MS` before its time is up"),
}
"""The steps up to the bot's speed by name, in order: the function of each, and the advice if it fails."""
