"""Asks bots who they are before the first game: their names, whether they can play by the rules, what they can take.

A slot that asks them keeps their processes for that game, so that a bot is started once, and two of them beside what
the slot itself has to load. Refuses to know where bots are written and how games are planned.
"""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from protocol.capabilities import CLOCKS_OPTION
from protocol.negotiation import Ineligible
from referee.bot import Bot
from referee.bot_file import read_capabilities
from referee.bot_settings import is_of_game, wrong_option
from referee.check import check
from referee.failure import BotError, SandboxError
from referee.negotiate import negotiate
from referee.roster import Roster
from referee.rules import load
from referee.rules.rules import Ruleset, Value
from referee.sandbox import Sandbox
from referee.slot import roster
from referee.spec import BotSpec, Limits, TimeControl
from referee.warmup import get_ready

TOGETHER = 2
"""So many bots are started at a time: those of a game."""


class IneligibleError(ValueError):
    """A bot that cannot play by these rules, found out before the first game."""


class UnintroducedError(ValueError):
    """A bot that does not start, or does not say who it is: it would lose every game."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What bots are to play by, in a form that can be handed to a slot."""

    family: str
    rules: tuple[tuple[str, Mapping[str, Value]], ...]
    """Variants with their options: those of the games, and others that some of the games have."""
    limits: Limits
    control: TimeControl | None
    is_shown: bool
    """Whether the start is shown as a position."""

    @classmethod
    def of(
        cls,
        ruleset: Ruleset,
        limits: Limits,
        control: TimeControl | None,
        *,
        is_shown: bool = False,
        also: Iterable[Ruleset] = (),
    ) -> Terms:
        """The terms of games by these rules; `also`: other rules that some of them have."""
        rules = tuple((each.variant.name, each.overrides) for each in (ruleset, *also))
        return cls(ruleset.rules.family, rules, limits, control, is_shown)

    def rulesets(self) -> list[Ruleset]:
        """The rules, settled again."""
        return [load(self.family).settle(variant, options) for variant, options in self.rules]


@dataclass(frozen=True, slots=True)
class Guest:
    """A bot to be asked, and the options that were typed for it."""

    spec: BotSpec
    typed: Sequence[tuple[str, str]] = ()
    each: Sequence[tuple[str, str]] = ()
    """Options of all bots: it plays without those that it has not announced, unless they were typed for it as well."""


def introduce(guest: Guest, terms: Terms, sandbox: Sandbox) -> BotSpec:
    """Start the bot once to learn its name, whether it can play on these terms, and what it can take.

    A bot that says nothing of its clocks, and whose capabilities are not written down, is asked a few questions more.
    Raises UnintroducedError when it does not even shake hands, IneligibleError when it has not announced what the
    rules demand, or one of the options that were typed for it, cannot set up positions where the start is shown as
    one, or cannot limit its search as the time control does (its own, if it has one).
    """
    bot = Bot(guest.spec, terms.limits, sandbox)
    try:
        _start(bot)
        spec = _meet(bot, guest, terms)
        is_known = _is_known(bot, terms)
    finally:
        bot.close()
    return _limited(spec if is_known else _examined(spec, terms, sandbox), terms)


def introduce_all(guests: Sequence[Guest], terms: Terms) -> tuple[BotSpec, ...] | UnintroducedError | IneligibleError:
    """The same of several bots by the present slot, which is ready for the game of the last two then: a job for it.

    Names that are taken get `-2`, `-3` … behind them. What would be raised is returned: it is for another process.
    """
    found: list[BotSpec] = []
    try:
        for begin in range(0, len(guests), TOGETHER):
            found += _introduced(guests[begin : begin + TOGETHER], terms, roster(), found)
    except (UnintroducedError, IneligibleError) as error:
        return error
    return tuple(found)


def _introduced(guests: Sequence[Guest], terms: Terms, slot: Roster, others: Sequence[BotSpec]) -> list[BotSpec]:
    """The next few, whose processes wait for their game."""
    seated = slot.seat([guest.spec for guest in guests], terms.limits)
    bots = [bot for bot in seated if isinstance(bot, Bot)]
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
    found: list[BotSpec] = []
    for spec in met:
        found.append(_unique(spec, {other.name for other in (*others, *found)}))
    for bot, spec, is_known in zip(bots, found, known, strict=True):
        if is_known:
            slot.rename(bot, spec)
        else:
            bot.close()
    slot.release([bot for bot, is_known in zip(bots, known, strict=True) if is_known])
    return [
        _limited(spec if is_known else _examined(spec, terms, slot.sandbox), terms)
        for spec, is_known in zip(found, known, strict=True)
    ]


def _start(bot: Bot) -> None:
    """Start it, and ask it who it is. Raises UnintroducedError."""
    with _reported(bot):
        bot.start()
    with contextlib.suppress(BotError):  # whoever waits for the answer finds out why
        bot.greet()


def _meet(bot: Bot, guest: Guest, terms: Terms) -> BotSpec:
    """Hear who it is. Raises UnintroducedError, IneligibleError."""
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
        unknown = {one for one, _ in guest.each if one not in announced and not is_of_game(one)}
        unknown -= {one for one, _ in guest.typed}
        if problem := wrong_option(announced, [*guest.typed, *(one for one in guest.each if one[0] not in unknown)]):
            raise IneligibleError(f"bot {name!r} {problem}")
        options = tuple(one for one in spec.options if one[0] not in unknown)
        return replace(spec, name=name, version=_clean(bot.session.merge_capabilities().name), options=options)


@contextlib.contextmanager
def _reported(bot: Bot) -> Iterator[None]:
    """Raises UnintroducedError where it fails."""
    try:
        yield
    except (BotError, SandboxError) as error:
        bot.process.is_sound = False
        reason = error.detail if isinstance(error, BotError) else str(error)
        raise UnintroducedError(_not_introduced(bot.spec, reason, bot.log)) from None


def _is_known(bot: Bot, terms: Terms) -> bool:
    """Whether there is nothing more to ask it."""
    control = terms.control and (bot.spec.time or terms.control)
    is_told = bool(bot.spec.capabilities) or CLOCKS_OPTION in bot.session.options
    return is_told or control is None or control.kind not in ("clock", "movetime")


def _examined(spec: BotSpec, terms: Terms, sandbox: Sandbox) -> BotSpec:
    """The bot with what it was found to take."""
    report = check(spec, terms.rulesets()[:1], sandbox, terms.limits, is_quick=True)
    if not report.is_fit:
        return spec
    return replace(spec, capabilities=read_capabilities(report.capabilities.as_json(), spec.name))


def _limited(spec: BotSpec, terms: Terms) -> BotSpec:
    """The bot, whose search can be limited as it will be. Raises IneligibleError."""
    control = terms.control and (spec.time or terms.control)
    if control and control.kind in ("depth", "nodes") and not spec.capabilities.get(control.kind, True):
        raise IneligibleError(f"bot {spec.name!r} does not know `go {control.kind} N`; take a time control in seconds")
    return spec


def _not_introduced(spec: BotSpec, reason: str, log: str) -> str:
    said = [line.strip() for line in log.splitlines() if line.strip()]
    words = f"; its last words: {said[-1][:300]}" if said and said[-1] not in reason else ""
    shown = spec.name or shlex.join(spec.command)[:200]
    return f"bot {shown!r} did not introduce itself: {reason}{words}; `arena check` shows every line exchanged"


def _clean(name: str) -> str:
    return "".join(letter for letter in name if letter.isprintable()).strip()[:64]


def _unique(spec: BotSpec, taken: set[str]) -> BotSpec:
    """The same bot with `-2`, `-3` … behind a name that is taken."""
    name, number = spec.name, 1
    while name in taken:
        number += 1
        name = f"{spec.name}-{number}"
    return replace(spec, name=name)
