"""May this version play by these rules? Decided from what its check found, before the first game, and explained.

The same negotiation as before every game, on the options the bot announced when it was checked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from protocol.capabilities import MOVES_OF_A_GAME, Capabilities
from protocol.errors import ProtocolError
from protocol.negotiation import Ineligible
from referee.negotiate import negotiate_options
from referee.rules.rules import Ruleset
from referee.spec import TimeControl

UNLIMITED = TimeControl("depth", 0, 0, 1)
"""A time control that asks nothing of a bot's speed."""


@dataclass(frozen=True, slots=True)
class Eligibility:
    """`reason` in plain words: what the bot is told, or what it would have to announce."""

    may_play: bool
    reason: str


def of_family(capabilities: Mapping[str, Any], family: str) -> Mapping[str, Any]:
    """What a check found in one family; empty when it found nothing there. What holds everywhere may be kept once."""
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
    """The verdict on a version.

    `capabilities`: what its check found, by family (`Capabilities.as_json`); none for a command of this installation
    that was never checked: it is trusted to follow the protocol. `families`: the families it was entered for, with
    the variants it was found fit for. `time`: how long it may think; `has_positions`: whether games begin from
    positions that must be set up.
    """
    family, variant = ruleset.rules.family, ruleset.variant.name
    if family not in families:
        others = ", ".join(sorted(families)) or "nothing"
        return Eligibility(False, f"plays {others}, not {family}; a version for {family} is needed")
    fit = families[family]
    if fit and variant not in fit and any(known.name == variant for known in ruleset.rules.variants):
        return Eligibility(False, f"it was found fit for {', '.join(fit)}, not for {variant}")
    known = of_family(capabilities, family)
    if not known:
        if capabilities:
            return Eligibility(False, f"its check found nothing about {family}; upload it again")
        return Eligibility(True, f"{family} {variant}: not checked, taken at its word")
    try:
        found = Capabilities.from_json(known)
    except (ProtocolError, TypeError, ValueError) as error:
        return Eligibility(False, f"its check report cannot be read ({error}); upload it again")
    if time.move_ms is not None and found.fit_from_ms > time.move_ms:
        return Eligibility(False, _too_slow(found.fit_from_ms, time))
    plan = negotiate_options(
        found.option_map, found.families, ruleset, is_shown=has_positions, startpos_only=found.startpos_only
    )
    if isinstance(plan, Ineligible):
        return Eligibility(False, f"{plan.reason}; submit a version that can")
    words = [f"{family} {variant}"]
    if plan.setoptions:
        words.append("told " + ", ".join(f"{option.name}={option.value}" for option in plan.setoptions))
    if not plan.use_startpos:
        words.append("shown the start as a position")
    if plan.passes_phase and ruleset.phase:
        words.append(f"the referee passes for it in the {ruleset.phase.name}")
    if not found.clocks:
        words.append("knows no clocks: given a time for every move")
    return Eligibility(True, "; ".join(words))


def _too_slow(fit_from_ms: int, time: TimeControl) -> str:
    has = f"{(time.move_ms or 0) / 1000:g} s"
    if time.kind == "clock":
        has += f" a move in a game of {MOVES_OF_A_GAME}"
    return f"its check found it fit from {fit_from_ms / 1000:g} s a move, and {time} leaves it {has}"
