"""The `Rules` record of hexapawn."""

from __future__ import annotations

from referee.rules.core import Termination
from referee.rules.rules import Option, Rules

from .gametext import FORMATS
from .layout import EMBLEM, MARKS, PIECES, board
from .notation import NOTATION
from .start import PHASE, VARIANTS
from .state import side
from .symmetry import SYMMETRY
from .words import WORDS

BREAKTHROUGH = Termination.by_rules("breakthrough", "a pawn reached the far rank")
STANDSTILL = Termination.by_rules("standstill", "neither side has a move left")

OPTIONS = (
    Option("no_moves", "combo", "loss", "moves", "the side to move has no move", values=("loss", "pass")),
    Option("repetition", "spin", 0, "limits", "the n-th occurrence of a position draws; 0 = never", excluded=(1,)),
    Option("max_plies", "spin", 0, "limits", "drawn when that many plies have been played; 0 = no limit"),
    Option("gift", "check", False, "moves", "before play each side may take one of its single pawns off the board"),
)

REASONS = (BREAKTHROUGH, Termination.NO_MOVES, STANDSTILL, Termination.REPETITION, Termination.MAX_PLIES)
"""Terminations in the order of the kernel's numbers."""

RULES = Rules(
    family="hexapawn",
    title="Hexapawn",
    version=1,
    sides=("White", "Black"),
    options=OPTIONS,
    variants=VARIANTS,
    notation=NOTATION,
    pieces=PIECES,
    marks=MARKS,
    emblem=EMBLEM,
    board=board,
    side=side,
    symmetry=SYMMETRY,
    kernel_module=f"{__package__}.kernel",
    reasons=REASONS,
    formats=FORMATS,
    phase=PHASE,
    draw_probability=0.0,
    summary="Three pawns a side on nine squares. Reach the far rank, or leave the opponent without a move.",
    words=WORDS,
)
