"""Prepares bots for the rules of a game: finds the options that each must be sent, or why it cannot play by them.

The protocol knows no family: this module translates the rules of a game into options of the protocol.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from weakref import WeakKeyDictionary

from protocol.messages import SetOption
from protocol.negotiation import Agreement, Ineligible, plan_setoptions
from protocol.options import OptionDecl
from referee.bot.seat import Seat
from referee.game.failure import BotError
from referee.rules.core import Termination
from referee.rules.rules import Ruleset

_plans: WeakKeyDictionary[Seat, tuple[tuple[object, ...], Agreement | Ineligible]] = WeakKeyDictionary()
"""The last plan of each bot, with the inputs that led to it: the same rules need the same options."""


def negotiate(bot: Seat, ruleset: Ruleset, *, is_shown: bool = False) -> Agreement | Ineligible:
    """Return the options to send to a bot before a game by these rules, or why the bot cannot play. Call this after
    its handshake.

    `is_shown`: the start is sent as a position, so the bot need not know the start's name.
    """
    options, startpos_only = bot.options, bot.capabilities.startpos_only
    asked = options, len(options), bot.families, ruleset, is_shown, startpos_only
    before = _plans.get(bot)
    if before and before[0] == asked:
        return before[1]
    plan = negotiate_options(options, bot.families, ruleset, is_shown=is_shown, startpos_only=startpos_only)
    _plans[bot] = asked, plan
    return plan


def negotiate_options(
    options: Mapping[str, OptionDecl],
    families: Collection[str],
    ruleset: Ruleset,
    *,
    is_shown: bool = False,
    startpos_only: bool = False,
) -> Agreement | Ineligible:
    """Return the result of `negotiate` for the options and families that a bot announced; it need not be running.

    `startpos_only`: the bot cannot set up positions, so no game may start from one.
    """
    rules = ruleset.rules
    setup = "" if is_shown or ruleset.variant.is_dealt else ruleset.variant.name
    default = rules.settle()
    plan = plan_setoptions(
        options,
        family=rules.family,
        variant=ruleset.variant.name,
        default_variant=rules.variants[0].name,
        variant_start_only=_differs_in_start_only(ruleset),
        changed_rules={name: value for name, value in ruleset.values.items() if value != default.values[name]},
        rule_kinds={option.name: option.changes for option in rules.options},
        rule_defaults=default.values,
        variant_rules=ruleset.variant.options,
        families=families,
        setup=setup if rules.notation.read_setup else None,
        phase_rule=rules.phase.rule if rules.phase else "",
        phase_option=rules.phase.announced_by if rules.phase else "",
        has_phase=ruleset.phase is not None,
    )
    if startpos_only and isinstance(plan, Agreement) and (is_shown or not plan.use_startpos):
        return Ineligible(
            f"the bot cannot set up positions (`position fen`), and {ruleset.variant.name} starts from one"
        )
    return plan


def _differs_in_start_only(ruleset: Ruleset) -> bool:
    default = ruleset.rules.variants[0]
    changed = {name for name, value in ruleset.variant.options.items() if ruleset.rules.option(name).default != value}
    tell = {option.name for option in ruleset.rules.options if option.changes in ("moves", "result")}
    return ruleset.variant.params == default.params and not changed & tell


def prepare(bot: Seat, ruleset: Ruleset, *, is_shown: bool = False) -> Agreement:
    """Send a bot the options and `uginewgame` of a new game; `is_shown` as for `negotiate`.

    Do not wait for the bot: `Seat.ready` does, once both bots have been sent their options. Raises BotError,
    whose termination is `handshake-failed` if the bot has not announced what the rules demand.
    """
    if bot.spec.place == "person":  # a person sees the board and the rules
        return Agreement(())
    plan = negotiate(bot, ruleset, is_shown=is_shown)
    if isinstance(plan, Ineligible):
        raise BotError(Termination.HANDSHAKE_FAILED, f"cannot play this: {plan.reason}")
    family = bot.options.get("Family")
    if family and family.accepts(ruleset.rules.family):
        bot.tell(SetOption("Family", ruleset.rules.family))
    for name, value in bot.spec.options:
        bot.tell(SetOption(name, value))
    wanted = frozenset(setting.name for setting in plan.setoptions)
    for name in sorted(bot.rule_options - wanted):  # a process that has played by other rules still has them set
        if (default := bot.options[name].default) is not None:
            bot.tell(SetOption(name, default))
    for setting in plan.setoptions:
        bot.tell(setting)
    bot.rule_options = wanted
    bot.new_game()
    return plan
