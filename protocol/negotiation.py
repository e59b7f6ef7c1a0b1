"""Choose the options to set before a game from those a bot announced: variant, set-up, phase before play, rule options.

Pure functions that know no family: its rules, phases and variants are arguments.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from protocol.messages import SetOption
from protocol.options import OptionDecl

Value: TypeAlias = str | int | bool
RuleKind: TypeAlias = Literal["moves", "result", "limits", "display"]

VARIANT_OPTION = "Variant"
SETUP_OPTION = "Setup"
RULE_PREFIX = "Rule."


@dataclass(frozen=True, slots=True)
class Agreement:
    """The messages to send before the first position: `setoptions` in this order.

    `use_startpos`: the game begins at the bot's own start position, so `position startpos` is enough; otherwise the
    referee sends `position fen`. `passes_phase`: the referee passes for the bot in the phase before play, and sends the
    position after that phase.
    """

    setoptions: tuple[SetOption, ...] = ()
    use_startpos: bool = True
    passes_phase: bool = False


@dataclass(frozen=True, slots=True)
class Ineligible:
    """A bot that cannot play this game; `reason` names what it must announce."""

    reason: str

    def __str__(self) -> str:
        return self.reason


def _written(value: Value, option: OptionDecl | None = None) -> str:
    if option is not None and option.type == "check" and value in (0, 1):
        return "true" if value else "false"
    if isinstance(value, bool):
        return str(int(value)) if option is not None and option.type == "spin" else str(value).lower()
    return str(value)


def _announcement(name: str, default: Value | None, value: Value) -> str:
    """Format the `option` line that a bot must announce to receive `value`."""
    start = value if default is None else default
    if isinstance(value, bool):
        return f"option name {name} type check default {_written(start)}"
    if isinstance(value, int):
        low, high = (min(start, value), max(start, value)) if isinstance(start, int) else (value, value)
        return f"option name {name} type spin default {start} min {low} max {high}"
    values = dict.fromkeys((str(start), value))
    return f"option name {name} type combo default {start} " + " ".join(f"var {choice}" for choice in values)


def _start(
    options: Mapping[str, OptionDecl],
    *,
    family: str,
    variant: str,
    default_variant: str,
    start_only: bool,
    setup: str | None,
) -> tuple[list[SetOption], bool, bool] | Ineligible:
    """Choose the messages about variant and set-up.

    Returns these messages, whether `position startpos` is enough, and whether the bot knows the variant.
    """
    told: list[SetOption] = []
    startpos = True
    wanted = variant
    if setup is not None and start_only:
        # The option `Variant` never holds a set-up: a bot gets it by the option `Setup`, or as a position.
        wanted = default_variant
        option = options.get(SETUP_OPTION)
        if setup and option is not None and option.accepts(setup):
            if not option.is_default(setup):
                told.append(SetOption(SETUP_OPTION, option.check(setup)))
        else:
            startpos = option is None and setup == default_variant and variant == default_variant
    option = options.get(VARIANT_OPTION)
    announcement = _announcement(VARIANT_OPTION, default_variant, wanted)
    if option is not None and option.accepts(wanted):
        if not option.is_default(wanted):
            told.insert(0, SetOption(VARIANT_OPTION, option.check(wanted)))
        return told, startpos, True
    if wanted != default_variant and not start_only:
        problem = "does not take it" if option is not None else "has no option Variant"
        return Ineligible(
            f"the variant {wanted} of {family} changes the rules and the bot {problem}; announce: {announcement}"
        )
    if option is None:
        return told, startpos and wanted == default_variant, wanted == default_variant
    # This variant differs only in its start position: the bot gets the position and plays the default variant.
    if not option.accepts(default_variant):
        return Ineligible(
            f"the option Variant of the bot does not take {default_variant}, the default of {family}; "
            f"announce: {announcement}"
        )
    if not option.is_default(default_variant):
        told.insert(0, SetOption(VARIANT_OPTION, option.check(default_variant)))
    return told, False, False


def plan_setoptions(
    options: Mapping[str, OptionDecl],
    *,
    family: str,
    variant: str,
    default_variant: str,
    variant_start_only: bool,
    changed_rules: Mapping[str, Value],
    rule_kinds: Mapping[str, RuleKind],
    rule_defaults: Mapping[str, Value],
    setup: str | None,
    phase_rule: str = "",
    phase_option: str = "",
    has_phase: bool = False,
    variant_rules: Mapping[str, Value] | None = None,
    families: Collection[str] = (),
) -> Agreement | Ineligible:
    """Choose the options to set for a bot that announced `options`, or explain why it cannot play the game.

    - `changed_rules`: the rule options whose value in this game differs from the family's default, changed by the
      variant or by the organiser
    - `rule_defaults`: the defaults of all rule options of the family
    - `rule_kinds`: what each rule option changes
    - `variant_rules`: the rule options that the variant sets; a bot that supports the variant need not announce these
      one by one
    - `variant_start_only`: the variant sets no rule options and differs from the default only in its start position
    - `setup`: name or notation of the set-up (also the default's name) for families that have set-ups, else None; empty
      for a set-up without a name, such as a random deal, which is sent as a position
    - `phase_rule`: the rule option of the family's phase before play, which a bot need not support; empty without one
    - `phase_option`: the option by which a bot announces that it supports the phase
    - `has_phase`: whether this game has the phase
    - `families`: what the bot announced with `id family`; if empty, the submission's own list counts
    """
    if families and family not in families:
        return Ineligible(f"the bot plays {', '.join(sorted(families))} only; announce: id family {family}")
    start = _start(
        options,
        family=family,
        variant=variant,
        default_variant=default_variant,
        start_only=variant_start_only,
        setup=setup,
    )
    if isinstance(start, Ineligible):
        return start
    told, startpos, in_variant = start
    variant_told = any(message.name == VARIANT_OPTION for message in told)

    phase, own_rule = options.get(phase_option), options.get(RULE_PREFIX + phase_rule)
    knows_phase = any(option is not None and option.accepts(_written(True, option)) for option in (phase, own_rule))
    passes = has_phase and not knows_phase
    if phase is not None and phase.accepts(_written(has_phase, phase)) and not phase.is_default(_written(has_phase)):
        told.append(SetOption(phase_option, _written(has_phase, phase)))

    implied = dict(rule_defaults) | (dict(variant_rules or {}) if in_variant else {})
    for name, value in (dict(rule_defaults) | dict(changed_rules)).items():
        option = options.get(RULE_PREFIX + name)
        binding = rule_kinds.get(name, "moves") in ("moves", "result") and name != phase_rule
        as_implied = name in implied and _written(implied[name]) == _written(value)
        if option is not None and option.accepts(_written(value, option)):
            # Once the variant is set, this rule has the variant's value, not the default that the bot announced.
            if not option.is_default(_written(value, option)) or (variant_told and not as_implied):
                told.append(SetOption(RULE_PREFIX + name, option.check(_written(value, option))))
        elif binding and (option is not None or not as_implied):
            announcement = _announcement(RULE_PREFIX + name, rule_defaults.get(name), value)
            problem = f"has no option {RULE_PREFIX}{name}" if option is None else "does not take that value"
            return Ineligible(
                f"this game of {family} has the rule {name}={_written(value)} and the bot {problem}; "
                f"announce: {announcement}"
            )
    return Agreement(tuple(told), startpos and not passes, passes)
