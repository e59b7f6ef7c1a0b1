"""The starts of hexapawn, and its phase before play."""

from __future__ import annotations

from referee.rules.rules import Phase, Variant

from .state import is_giving

VARIANTS = (
    Variant("standard", "bbb/3/www w", params=(3, 0)),
    Variant("wide", "bbbb/4/wwww w", params=(4, 0), note="four files"),
    Variant("patient", "bbb/3/www w", {"no_moves": "pass"}, params=(3, 0), note="who is stuck passes"),
    Variant("towers", "bBb/3/wWw w", params=(3, 1), note="a pawn may step on an own one; the upper one moves on"),
)


def _begin(position: str) -> str:
    return f"{position} gift"


PHASE = Phase("gift phase", rule="gift", announced_by="GiftPhase", holds=is_giving, begin=_begin)
