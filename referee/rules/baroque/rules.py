"""The `Rules` record of Baroque chess (Ultima): options, variants, texts and board. It imports no compiled code."""

from __future__ import annotations

from referee.rules.baroque.features import FEATURES
from referee.rules.baroque.gametext import FORMATS
from referee.rules.baroque.layout import EMBLEM, MARKS, PIECES, board, effect
from referee.rules.baroque.notation import NOTATION, explain
from referee.rules.baroque.refusal import refuse
from referee.rules.baroque.start import ROWS, VARIANTS, draw, resolve
from referee.rules.baroque.state import side
from referee.rules.baroque.symmetry import SYMMETRY
from referee.rules.baroque.words import WORDS
from referee.rules.core import Termination
from referee.rules.rules import Option, PositionSetup, Rules

CHECKMATE = Termination.by_rules("checkmate", "the king is attacked and cannot be saved")
STALEMATE = Termination.by_rules("stalemate", "the side to move has no move and its king is not attacked")
BARE_KINGS = Termination.by_rules("bare-kings", "only the kings are left")

# The options are in the order of Config in state.py.
OPTIONS: tuple[Option, ...] = (
    Option(
        "immobilizer",
        "combo",
        "pure",
        "moves",
        "pure: a chameleon or immobilizer next to an enemy immobilizer neutralises it; classical: none does",
        values=("pure", "classical"),
    ),
    Option("suicide", "check", False, "moves", "a frozen piece other than the king may remove itself as a move"),
    Option(
        "chameleon_leap_combines",
        "check",
        True,
        "moves",
        "whether a chameleon that leaps also captures by the other methods",
    ),
    Option(
        "leaper_max_captures",
        "spin",
        0,
        "moves",
        "maximum number of enemies that a move of a leaper or chameleon may leap over; 0 = any number",
        maximum=100,
    ),
    Option(
        "stalemate",
        "combo",
        "draw",
        "result",
        "the result for a side without legal moves that is not in check",
        values=("draw", "loss"),
    ),
    Option("repetition", "spin", 3, "limits", "the n-th occurrence of a position is a draw; 0 = off", excluded=(1,)),
    Option("no_capture_limit", "spin", 100, "limits", "plies without a capture that end the game in a draw; 0 = off"),
    Option("bare_kings_draw", "check", True, "limits", "whether king against king is an immediate draw"),
    Option("max_plies", "spin", 0, "limits", "plies after which the game ends in a draw; 0 = off"),
    Option("index", "spin", 0, "limits", "the back row of random-symmetric", maximum=ROWS - 1),
    Option("index_white", "spin", 0, "limits", "White's back row of random-asymmetric", maximum=ROWS - 1),
    Option("index_black", "spin", 0, "limits", "Black's back row of random-asymmetric", maximum=ROWS - 1),
)

REASONS: tuple[Termination, ...] = (
    CHECKMATE,
    STALEMATE,
    BARE_KINGS,
    Termination.NO_CAPTURE,
    Termination.REPETITION,
    Termination.MAX_PLIES,
)

SUMMARY = (
    "Chess pieces on a chess board, but nearly all move like a queen (pincers like a rook), and each kind captures in "
    "a way of its own, without entering the victim's square. Pincers pinch. The coordinator captures on the corners "
    "of the rectangle it forms with its king. The withdrawer captures the piece it leaves behind. The long leaper "
    "leaps over pieces. The chameleon captures each piece by that piece's method. The immobilizer captures nothing "
    "but freezes every enemy next to it, kings included. Only the king captures by displacement; mate wins."
)


RULES = Rules(
    family="baroque",
    title="Baroque chess",
    version=1,
    sides=("White", "Black"),
    options=OPTIONS,
    variants=VARIANTS,
    rare_positions=("8/8/4k3/8/8/3K4/8/8 w 0 1",),
    notation=NOTATION,
    pieces=PIECES,
    position_setup=PositionSetup(("w 0 1", "b 0 1")),
    effect=effect,
    marks=MARKS,
    emblem=EMBLEM,
    board=board,
    side=side,
    symmetry=SYMMETRY,
    features=FEATURES,
    game_moves=75,
    level_strengths=(0, 9, 14, 21, 26, 31, 36, 40),
    kernel_module="referee.rules.baroque.kernel",
    reasons=REASONS,
    refuse=refuse,
    resolve=resolve,
    draw=draw,
    formats=FORMATS,
    keeps_moves=frozenset(REASONS[2:]),
    draw_probability=0.25,
    summary=SUMMARY,
    explain=explain,
    words=WORDS,
)
