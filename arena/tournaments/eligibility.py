"""Eligibility of a version for a set of rules, decided and explained before the first game.

Runs the negotiation that precedes every game, with the options the bot announced during its submission check.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from protocol.capabilities import MOVES_OF_A_GAME, Capabilities
from protocol.errors import ProtocolError
from protocol.negotiation import Ineligible
from referee.game.spec import TimeControl
from referee.play.negotiation import negotiate_options
from referee.rules.rules import Ruleset

UNLIMITED = TimeControl("depth", 0, 0, 1)
"""A time control that every bot is fast enough for."""


@dataclass(frozen=True, slots=True)
class Eligibility:
    """Result of the check. `reason` names the options the bot will be sent, or what it would have to announce."""

    may_play: bool
    reason: str


def of_family(capabilities: Mapping[str, Any], family: str) -> Mapping[str, Any]:
    """Return the part of a check report about one family; empty if the report has no such part.

    A report without families holds for every family.
    """
    found = capabilities.get(family, capabilities if "options" in capabilities else {})
    return found if isinstance(found, Mapping) else {}


def check_eligibility(  # noqa: PLR0911 - one for each reason
    capabilities: Mapping[str, Any],
    families: Mapping[str, Sequence[str]],
    ruleset: Ruleset,
    time: TimeControl = UNLIMITED,
    *,
    has_positions: bool = False,
) -> Eligibility:
    """Return whether a version may play by `ruleset`, and why.

    `capabilities` is its check report by family (`Capabilities.as_json`). It is empty for a command of this
    installation, which is trusted without a check. `families` maps each family it was entered for to the variants it
    supports. `time` is its fastest time control. `has_positions`: some games start from positions that must be set up.
    """
    family, variant = ruleset.rules.family, ruleset.variant.name
    if family not in families:
        others = ", ".join(sorted(families)) or "nothing"
        return Eligibility(False, f"plays {others}, not {family}; a version for {family} is needed")
    fit = families[family]
    if fit and variant not in fit and any(listed.name == variant for listed in ruleset.rules.variants):
        return Eligibility(False, f"passed its check for {', '.join(fit)}, not for {variant}")
    report = of_family(capabilities, family)
    if not report:
        if capabilities:
            return Eligibility(False, f"has no check report for {family}; upload it again")
        return Eligibility(True, f"{family} {variant}: not checked, trusted")
    try:
        announced = Capabilities.from_json(report)
    except (ProtocolError, TypeError, ValueError) as error:
        return Eligibility(False, f"its check report cannot be read ({error}); upload it again")
    if time.move_ms is not None and announced.fit_from_ms > time.move_ms:
        return Eligibility(False, _too_slow(announced.fit_from_ms, time))
    plan = negotiate_options(
        announced.option_map, announced.families, ruleset, is_shown=has_positions, startpos_only=announced.startpos_only
    )
    if isinstance(plan, Ineligible):
        return Eligibility(False, f"{plan.reason}; submit a version that can")
    words = [f"{family} {variant}"]
    if plan.setoptions:
        words.append("gets the options " + ", ".join(f"{option.name}={option.value}" for option in plan.setoptions))
    if not plan.use_startpos:
        words.append("gets the start as a position")
    if plan.passes_phase and ruleset.phase:
        words.append(f"the referee passes for it in the {ruleset.phase.name}")
    if not announced.clocks:
        words.append("does not support clocks: gets a fixed time for every move")
    return Eligibility(True, "; ".join(words))


def _too_slow(fit_from_ms: int, time: TimeControl) -> str:
    has = f"{(time.move_ms or 0) / 1000:g} s"
    if time.kind == "clock":
        has += f" per move in a game of {MOVES_OF_A_GAME} moves"
    return f"needs at least {fit_from_ms / 1000:g} s per move according to its check; {time} gives it {has}"
