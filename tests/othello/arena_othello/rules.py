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

DISCS = Termination.by_rules("discs", "neither side could move, and the discs were counted")

OPTIONS: tuple[Option, ...] = ()

REASONS = (DISCS,)
"""Terminations in the order of the kernel's numbers."""

RULES = Rules(
    family="othello",
    title="Othello",
    version=1,
    sides=("Black", "White"),
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
    draw_probability=0.03,
    summary="Put discs, turn what stands between yours; more discs at the end win.",
    words=WORDS,
)
