"""The `Rules` record of the family."""

from __future__ import annotations

from referee.rules.core import Termination
from referee.rules.rules import Option, Rules

from .gametext import FORMATS
from .layout import EMBLEM, MARKS, PIECES, board
from .notation import NOTATION
from .start import VARIANTS
from .state import side
from .symmetry import SYMMETRY
from .words import WORDS

ARRIVAL = Termination.by_rules("template-arrival", "a pawn reached the far rank")
"""A termination of this family; no other family may use its word."""

OPTIONS = (Option("max_plies", "spin", 0, "limits", "drawn when that many plies have been played; 0 = no limit"),)

REASONS = (ARRIVAL, Termination.NO_MOVES, Termination.MAX_PLIES)
"""Terminations in the order of the kernel's numbers."""

RULES = Rules(
    family="template",
    title="Template",
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
    draw_probability=0.01,
    summary="Pawns on nine squares: reach the far rank, or leave the opponent without a move.",
    words=WORDS,
)
