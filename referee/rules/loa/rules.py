"""The `Rules` record of Lines of Action: its options, variants and parts."""

from __future__ import annotations

from referee.rules.core import Termination
from referee.rules.loa.features import FEATURES
from referee.rules.loa.gametext import FORMATS
from referee.rules.loa.layout import EMBLEM, MARKS, PIECES, board
from referee.rules.loa.notation import NOTATION
from referee.rules.loa.refusal import refuse
from referee.rules.loa.start import VARIANTS
from referee.rules.loa.state import side
from referee.rules.loa.symmetry import SYMMETRY
from referee.rules.loa.words import WORDS
from referee.rules.rules import Option, PositionSetup, Rules

SIMULTANEOUS_CONNECTION = Termination.by_rules("simultaneous-connection", "a move connected both sides at once")
CONNECTION = Termination.by_rules("connection", "all pieces of one side are connected")
BLOCKED = Termination.by_rules("blocked", "neither side can move")

OPTIONS = (
    Option(
        "simultaneous",
        "combo",
        "draw",
        "result",
        "both sides connected by one move: drawn, or the side that just moved wins",
        values=("draw", "mover"),
    ),
    Option(
        "no_moves",
        "combo",
        "pass",
        "moves",
        "the side to move has no move: it passes, loses, or the game is drawn",
        values=("pass", "loss", "draw"),
    ),
    Option(
        "repetition",
        "spin",
        3,
        "limits",
        "the n-th occurrence of a position ends the game; 0 = never",
        excluded=(1,),
    ),
    Option(
        "repetition_result",
        "combo",
        "draw",
        "result",
        "the result of a repetition: a draw, or a loss of the side that caused it",
        values=("draw", "loss"),
    ),
    Option("max_plies", "spin", 0, "limits", "drawn when that many plies have been played; 0 = no limit"),
)

REASONS = (
    CONNECTION,
    SIMULTANEOUS_CONNECTION,
    BLOCKED,
    Termination.NO_MOVES,
    Termination.REPETITION,
    Termination.MAX_PLIES,
)
"""Terminations in the order of the kernel's numbers."""

RULES = Rules(
    family="loa",
    title="Lines of Action",
    version=1,
    sides=("Black", "White"),
    options=OPTIONS,
    variants=VARIANTS,
    rare_positions=("6bw/6bb/8/8/8/8/bb6/wb6 w - 20", "/".join(["bbwwbbww"] * 8) + " b - 50"),
    notation=NOTATION,
    pieces=PIECES,
    position_setup=PositionSetup(("b - 1", "w - 1")),
    marks=MARKS,
    emblem=EMBLEM,
    board=board,
    side=side,
    symmetry=SYMMETRY,
    features=FEATURES,
    game_moves=19,
    level_strengths=(12, 17, 22, 30, 38, 46, 53, 61),
    kernel_module="referee.rules.loa.kernel",
    reasons=REASONS,
    refuse=refuse,
    formats=FORMATS,
    draw_probability=0.02,
    summary=(
        "Move one piece in a straight line, exactly as many squares as there are pieces on that line, over your own "
        "but never over opposing pieces. Landing on an opposing piece captures it. The side that gathers all its "
        "pieces into one touching group wins, so every capture also brings the opponent nearer to that goal. In Zen "
        "l'initié a neutral piece that both may move belongs to the group."
    ),
    words=WORDS,
)
