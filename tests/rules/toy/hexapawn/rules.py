"""The `Rules` record of hexapawn. Refuses to know how moves are found."""

from __future__ import annotations

from referee.rules.core import Termination
from referee.rules.rules import Config, Option, Rules, State, Variant

from .layout import PIECES, board
from .notation import FORMAT, NOTATION

GOAL = Termination.by_rules("goal", "a piece reached its goal")
BLOCKED = Termination.by_rules("blocked", "neither side can move")


def _side(state: State, config: Config) -> int:
    return int(state[12])


RULES = Rules(
    family="hexapawn",
    title="Hexapawn",
    version=1,
    sides=("White", "Black"),
    options=(
        Option("no_moves", "combo", "loss", "moves", "the side to move has no move", values=("loss", "pass")),
        Option("repetition", "spin", 0, "limits", "the n-th occurrence of a position draws; 0 = never", excluded=(1,)),
        Option("max_plies", "spin", 0, "limits", "drawn when that many plies have been played; 0 = no limit"),
    ),
    variants=(
        Variant("standard", "bbb/3/www w", params=(3,)),
        Variant("wide", "bbbb/4/wwww w", params=(4,), note="four files"),
        Variant("patient", "bbb/3/www w", {"no_moves": "pass"}, params=(3,), note="who is stuck passes"),
    ),
    notation=NOTATION,
    pieces=PIECES,
    board=board,
    side=_side,
    kernel_module=f"{__package__}.kernel",
    reasons=(
        GOAL,
        Termination.NO_MOVES,
        BLOCKED,
        Termination.REPETITION,
        Termination.MAX_PLIES,
    ),
    formats=(FORMAT,),
    summary="Three pawns a side on nine squares. Reach the far rank, or leave the opponent without a move.",
)
