"""Probes bots before their first game: names, eligibility for the rules, and capabilities.

The game slot (process) that probes bots keeps them running for their first game, so that each is started only once. Two
bots start at a time, while the slot compiles or loads the rules.
"""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from protocol.capabilities import CLOCKS_OPTION
from protocol.negotiation import Ineligible
from referee.bot.bot import LocalBot
from referee.bot.file import read_capabilities
from referee.bot.settings import is_of_game, wrong_option
from referee.check.check import check
from referee.game.failure import BotError, SandboxError
from referee.game.spec import BotLimits, BotSpec, TimeControl
from referee.machine.warmup import get_ready
from referee.play.player import negotiate
from referee.play.roster import Roster
from referee.play.slot import roster
from referee.rules import load
from referee.rules.rules import Ruleset, Value
from referee.sandbox import Sandbox

TOGETHER = 2
"""Number of bots that are started at a time: those of one game."""


class IneligibleError(ValueError):
    """A bot that cannot play by the rules of its games, as found out before the first game."""


class ProbeError(ValueError):
    """A bot that does not start or complete its handshake: it would lose every game."""


@dataclass(frozen=True, slots=True)
class GameConditions:
    """The rules, limits and time control of the games, in a form that can be sent to the process of a game slot."""

    family: str
    rules: tuple[tuple[str, Mapping[str, Value]], ...]
    """Variants with their options: those of most games first, then those of some games."""
    limits: BotLimits
    control: TimeControl | None
    is_shown: bool
    """True if the start is sent as a position."""

    @classmethod
    def of(
        cls,
        ruleset: Ruleset,
        limits: BotLimits,
        control: TimeControl | None,
        *,
        is_shown: bool = False,
        also: Iterable[Ruleset] = (),
    ) -> GameConditions:
        """Return the conditions of games by `ruleset`; `also` are further rules, used in some games."""
        rules = tuple((settled.variant.name, settled.overrides) for settled in (ruleset, *also))
        return cls(ruleset.rules.family, rules, limits, control, is_shown)

    def rulesets(self) -> list[Ruleset]:
        """Return a ruleset for each variant and its options in `rules`."""
        return [load(self.family).settle(variant, options) for variant, options in self.rules]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A bot to be probed, and the options that were typed for it."""

    spec: BotSpec
    typed: Sequence[tuple[str, str]] = ()
    each: Sequence[tuple[str, str]] = ()
    """Options of all bots: those it has not announced are left out, unless they were typed for it as well."""


def probe(guest: Candidate, terms: GameConditions, sandbox: Sandbox) -> BotSpec:
    """Start the bot once and return its spec with name and capabilities, if it can play under these conditions.

    A bot that announces no clocks, and whose capabilities are not saved, gets a quick check. Raises ProbeError if the
    bot does not complete the handshake. Raises IneligibleError if its announcement lacks what the rules demand
    or an option that was typed for it; if it cannot set up positions although the start is sent as a position; or if it
    cannot limit its search as its time control demands.
    """
    bot = LocalBot(guest.spec, terms.limits, sandbox)
    try:
        _start(bot)
        spec = _meet(bot, guest, terms)
        is_known = _is_known(bot, terms)
    finally:
        bot.close()
    return _limited(spec if is_known else _examined(spec, terms, sandbox), terms)


def probe_all(guests: Sequence[Candidate], terms: GameConditions) -> tuple[BotSpec, ...] | ProbeError | IneligibleError:
    """Probe several bots in the process of a slot, which keeps the last two running for their game.

    Duplicate names get the suffix `-2`, `-3` …. An error is returned, not raised, so that it reaches the process that
    submitted this job.
    """
    specs: list[BotSpec] = []
    try:
        for begin in range(0, len(guests), TOGETHER):
            specs += _introduced(guests[begin : begin + TOGETHER], terms, roster(), specs)
    except (ProbeError, IneligibleError) as error:
        return error
    return tuple(specs)


def _introduced(
    guests: Sequence[Candidate], terms: GameConditions, slot: Roster, others: Sequence[BotSpec]
) -> list[BotSpec]:
    """Probe the next few bots, and keep their processes for their game."""
    seated = slot.seat([guest.spec for guest in guests], terms.limits)
    bots = [bot for bot in seated if isinstance(bot, LocalBot)]
    try:
        for bot in bots:
            _start(bot)
        if not others:
            get_ready(terms.family)
        met = [_meet(bot, guest, terms) for bot, guest in zip(bots, guests, strict=True)]
    except BaseException:
        slot.discard(bots)
        raise
    known = [_is_known(bot, terms) for bot in bots]
    specs: list[BotSpec] = []
    for spec in met:
        specs.append(_unique(spec, {other.name for other in (*others, *specs)}))
    for bot, spec, is_known in zip(bots, specs, known, strict=True):
        if is_known:
            slot.rename(bot, spec)
        else:
            bot.close()
    slot.release([bot for bot, is_known in zip(bots, known, strict=True) if is_known])
    return [
        _limited(spec if is_known else _examined(spec, terms, slot.sandbox), terms)
        for spec, is_known in zip(specs, known, strict=True)
    ]


def _start(bot: LocalBot) -> None:
    """Start the bot and send `ugi`. Raises ProbeError."""
    with _reported(bot):
        bot.start()
    with contextlib.suppress(BotError):  # `_meet` waits for the answer and reports the error
        bot.greet()


def _meet(bot: LocalBot, guest: Candidate, terms: GameConditions) -> BotSpec:
    """Complete the handshake; check that the bot can play by the rules. Raises ProbeError, IneligibleError."""
    spec = guest.spec
    last = spec.command[-1] if len(spec.command) > 1 else Path(spec.command[0]).stem
    with _reported(bot):
        bot.handshake()
        name = spec.name or _clean(bot.session.name) or Path(last).name or "bot"
        for ruleset in terms.rulesets():
            plan = negotiate(bot, ruleset, is_shown=terms.is_shown)
            if isinstance(plan, Ineligible):
                raise IneligibleError(f"bot {name!r} cannot play this: {plan.reason}")
        announced = bot.session.options
        unknown = {option for option, _ in guest.each if option not in announced and not is_of_game(option)}
        unknown -= {option for option, _ in guest.typed}
        if problem := wrong_option(announced, [*guest.typed, *(pair for pair in guest.each if pair[0] not in unknown)]):
            raise IneligibleError(f"bot {name!r} {problem}")
        options = tuple(pair for pair in spec.options if pair[0] not in unknown)
        return replace(spec, name=name, version=_clean(bot.session.merge_capabilities().name), options=options)


@contextlib.contextmanager
def _reported(bot: LocalBot) -> Iterator[None]:
    """Raise ProbeError if the bot fails inside the `with` block."""
    try:
        yield
    except (BotError, SandboxError) as error:
        bot.process.is_sound = False
        reason = error.detail if isinstance(error, BotError) else str(error)
        raise ProbeError(_not_introduced(bot.spec, reason, bot.log)) from None


def _is_known(bot: LocalBot, terms: GameConditions) -> bool:
    """Return whether the bot needs no quick check: its clock support is known, or not needed."""
    control = terms.control and (bot.spec.time or terms.control)
    is_told = bool(bot.spec.capabilities) or CLOCKS_OPTION in bot.session.options
    return is_told or control is None or control.kind not in ("clock", "movetime")


def _examined(spec: BotSpec, terms: GameConditions, sandbox: Sandbox) -> BotSpec:
    """Return the bot with the capabilities that a quick check finds."""
    report = check(spec, terms.rulesets()[:1], sandbox, terms.limits, is_quick=True)
    if not report.is_fit:
        return spec
    return replace(spec, capabilities=read_capabilities(report.capabilities.as_json(), spec.name))


def _limited(spec: BotSpec, terms: GameConditions) -> BotSpec:
    """Return the bot if its search can be limited as the time control demands. Raises IneligibleError."""
    control = terms.control and (spec.time or terms.control)
    if control and control.kind in ("depth", "nodes") and not spec.capabilities.get(control.kind, True):
        raise IneligibleError(f"bot {spec.name!r} does not know `go {control.kind} N`; use a time control in seconds")
    return spec


def _not_introduced(spec: BotSpec, reason: str, log: str) -> str:
    said = [line.strip() for line in log.splitlines() if line.strip()]
    words = f"; its last words: {said[-1][:300]}" if said and said[-1] not in reason else ""
    shown = spec.name or shlex.join(spec.command)[:200]
    return f"bot {shown!r} did not complete its handshake: {reason}{words}; `arena check` shows every line exchanged"


def _clean(name: str) -> str:
    return "".join(letter for letter in name if letter.isprintable()).strip()[:64]


def _unique(spec: BotSpec, taken: set[str]) -> BotSpec:
    """Return the bot, with a suffix `-2`, `-3` … if its name is taken."""
    name, number = spec.name, 1
    while name in taken:
        number += 1
        name = f"{spec.name}-{number}"
    return replace(spec, name=name)
