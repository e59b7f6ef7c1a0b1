"""The `Rules` record of Pijersi: its options, variants and parts."""

from __future__ import annotations

from referee.rules.core import Termination
from referee.rules.pijersi.features import FEATURES
from referee.rules.pijersi.gametext import FORMATS
from referee.rules.pijersi.layout import EMBLEM, MARKS, PIECES, board, effect, move_input
from referee.rules.pijersi.notation import NOTATION, write_setup
from referee.rules.pijersi.refusal import refuse
from referee.rules.pijersi.start import PHASE, VARIANTS, draw, numbers, permutations_of, resolve
from referee.rules.pijersi.state import side
from referee.rules.pijersi.symmetry import SYMMETRY
from referee.rules.pijersi.words import WORDS
from referee.rules.rules import Option, PositionSetup, Rules, Setups

GOAL = Termination.by_rules("goal", "a piece reached its goal")

OPTIONS = (
    Option(
        "no_capture_limit",
        "spin",
        20,
        "limits",
        "plies without a capture after which the game is drawn; 0 = no limit",
    ),
    Option(
        "repetition",
        "spin",
        0,
        "limits",
        "drawn at the n-th occurrence of a position with the same side to move; 0 = never",
        excluded=(1,),
    ),
    Option(
        "swap_phase",
        "check",
        False,
        "moves",
        "before play each side, White first, may exchange two of its own single cubes, or pass",
    ),
)


REASONS = (GOAL, Termination.NO_CAPTURE, Termination.NO_MOVES, Termination.REPETITION)
"""Terminations in the order of the kernel's numbers."""

RULES = Rules(
    family="pijersi",
    title="Pijersi",
    version=1,
    sides=("White", "Black"),
    options=OPTIONS,
    variants=VARIANTS,
    rare_positions=("6/7/6/7/6/s-s-5/W-w-4 w 4 12",),
    notation=NOTATION,
    pieces=PIECES,
    position_setup=PositionSetup(("w 0 1", "b 0 1"), max_pieces=2, width=2),
    effect=effect,
    move_input=move_input,
    marks=MARKS,
    emblem=EMBLEM,
    board=board,
    side=side,
    symmetry=SYMMETRY,
    features=FEATURES,
    game_moves=9,
    level_strengths=(0, 8, 13, 20, 37, 42, 49, 56),
    kernel_module="referee.rules.pijersi.kernel",
    reasons=REASONS,
    refuse=refuse,
    resolve=resolve,
    draw=draw,
    phase=PHASE,
    formats=FORMATS,
    summary=(
        "Rocks, papers, scissors and wise cubes on 45 hexagons, singly or stacked in twos. A turn moves one cube one "
        "cell, or a stack one or two cells, or does one after the other with the same cube; rock takes scissors, "
        "scissors take paper, paper takes rock. The side that ends a turn with a rock, paper or scissors on the "
        "far row wins. The two rows of each side have a fixed, numbered or random order."
    ),
    setups=Setups(write_setup, numbers, permutations_of),
    words=WORDS,
)
