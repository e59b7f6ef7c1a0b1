"""The `Rules` record of Abalone: options, starts, pieces and text formats."""

from __future__ import annotations

from typing import Final

from referee.rules.abalone.features import FEATURES
from referee.rules.abalone.gametext import FORMATS
from referee.rules.abalone.layout import EMBLEM, MARKS, PIECES, board, effect, move_input, take_back
from referee.rules.abalone.notation import NOTATION
from referee.rules.abalone.refusal import refuse
from referee.rules.abalone.start import VARIANTS, resolve
from referee.rules.abalone.state import side
from referee.rules.abalone.symmetry import SYMMETRY
from referee.rules.abalone.words import WORDS
from referee.rules.core import Termination
from referee.rules.rules import Option, PositionSetup, Rules

EJECTIONS = Termination.by_rules("ejections", "enough marbles were pushed off the board")
NO_EJECTION = Termination.by_rules("no-ejection", "too many plies without an ejection")

OPTIONS: Final = (
    Option("win_score", "spin", 6, "result", "ejections that win the game", minimum=1, maximum=14),
    Option(
        "repetition",
        "spin",
        3,
        "limits",
        "the n-th occurrence of a board with the same side to move is a draw; 0 = off",
        excluded=(1,),
    ),
    Option("no_ejection_limit", "spin", 200, "limits", "plies without an ejection that end the game; 0 = off"),
    Option("max_plies", "spin", 0, "limits", "plies after which the game ends; 0 = off"),
    Option(
        "limit_result",
        "combo",
        "draw",
        "result",
        "the result at either limit: a draw, or the side with more ejections wins",
        values=("draw", "score"),
    ),
    Option(
        "no_moves",
        "combo",
        "loss",
        "result",
        "the result for a side to move without a legal move",
        values=("loss", "draw"),
    ),
    Option("mark_ejections", "check", False, "display", "write (e) after a move that ejects"),
    Option("show_score", "check", False, "display", "write the score (Black-White) after each ejection"),
)


REASONS: Final = (EJECTIONS, Termination.NO_MOVES, Termination.REPETITION, NO_EJECTION, Termination.MAX_PLIES)
"""Terminations in the order of the kernel's numbers."""

RULES: Final = Rules(
    family="abalone",
    title="Abalone",
    version=1,
    sides=("Black", "White"),
    options=OPTIONS,
    variants=VARIANTS,
    notation=NOTATION,
    pieces=PIECES,
    position_setup=PositionSetup(("0 0 b 0 1", "0 0 w 0 1")),
    effect=effect,
    move_input=move_input,
    take_back=take_back,
    marks=MARKS,
    emblem=EMBLEM,
    board=board,
    side=side,
    symmetry=SYMMETRY,
    features=FEATURES,
    game_moves=100,
    level_strengths=(0, 4, 8, 15, 26, 30, 33, 36),
    kernel_module="referee.rules.abalone.kernel",
    reasons=REASONS,
    refuse=refuse,
    resolve=resolve,
    formats=FORMATS,
    keeps_moves=frozenset({Termination.REPETITION, NO_EJECTION, Termination.MAX_PLIES}),
    limits=frozenset({NO_EJECTION}),
    summary=(
        "Two sides with usually fourteen marbles each on a hexagon of 61 cells. A turn moves one, two or three own "
        "marbles of one straight line by one cell, along the line or broadside. Moving along the line, more marbles "
        "push fewer: three push two or one, two push one. A marble pushed over the edge is ejected. The side that "
        "ejects six wins. An own marble never leaves the board, and pushing is never compulsory."
    ),
    words=WORDS,
)
