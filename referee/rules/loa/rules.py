"""The `Rules` record of Lines of Action: its options, variants and parts. Refuses to know how moves are found."""

from __future__ import annotations

from referee.rules.core import Termination
from referee.rules.loa.gametext import FORMAT
from referee.rules.loa.layout import PIECES, board
from referee.rules.loa.notation import NOTATION
from referee.rules.loa.state import SIDE
from referee.rules.rules import Config, Option, Rules, State, Variant

SIMULTANEOUS_CONNECTION = Termination.by_rules("simultaneous-connection", "a move connected both sides at once")
CONNECTION = Termination.by_rules("connection", "all pieces of one side are connected")
BLOCKED = Termination.by_rules("blocked", "neither side can move")

_OPTIONS = (
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
        "what a repetition is: a draw, or a loss of the side that brought it about",
        values=("draw", "loss"),
    ),
    Option("max_plies", "spin", 0, "limits", "drawn when that many plies have been played; 0 = no limit"),
)

_E5 = 4 * 16 + 4


def _side(state: State, config: Config) -> int:
    return int(state[SIDE])


def _framed(first: str, inner: str, size: int, last: str) -> str:
    return "/".join([first, *[inner] * (size - 2), last]) + " b - 1"


_VARIANTS = (
    Variant("standard", _framed("1bbbbbb1", "w6w", 8, "1bbbbbb1"), params=(8, -1, 0), note="12 against 12"),
    Variant(
        "scrambled-eggs",
        "1wbwbwb1/b6w/w6b/b6w/w6b/b6w/w6b/1bwbwbw1 b - 1",
        params=(8, -1, 0),
        note="colours alternate round the edge",
    ),
    Variant("loa12", _framed("1bbbbbbbbbb1", "w10w", 12, "1bbbbbbbbbb1"), params=(12, -1, 0), note="20 against 20"),
    Variant(
        "blackhole9",
        _framed("1bbbbbbb1", "w7w", 9, "1bbbbbbb1"),
        params=(9, _E5, 0),
        note="a piece that lands on e5 vanishes",
    ),
    Variant(
        "blackhole9-scrambled",
        "1bwbwbwb1/w7w/b7b/w7w/b7b/w7w/b7b/w7w/1bwbwbwb1 b - 1",
        params=(9, _E5, 0),
        note="blackhole9 with alternating colours",
    ),
    Variant(
        "zen",
        "b4w4w/4b1b4/3w3w3/2b5b2/1w7w1/b4z4b/1w7w1/2b5b2/3w3w3/4b1b4/w4w4b b - 1",
        params=(11, -1, 1),
        note="Zen l'initié: a neutral piece both may move must belong to the group",
    ),
)

RULES = Rules(
    family="loa",
    title="Lines of Action",
    version=1,
    sides=("Black", "White"),
    options=_OPTIONS,
    variants=_VARIANTS,
    notation=NOTATION,
    pieces=PIECES,
    board=board,
    side=_side,
    kernel_module="referee.rules.loa.kernel",
    reasons=(
        CONNECTION,
        SIMULTANEOUS_CONNECTION,
        BLOCKED,
        Termination.NO_MOVES,
        Termination.REPETITION,
        Termination.MAX_PLIES,
    ),
    formats=(FORMAT,),
    draw_probability=0.02,
    summary=(
        "Move one piece in a straight line, exactly as many squares as there are pieces on that line, over your own "
        "but never over opposing pieces; landing on an opposing piece captures it. Whoever gathers all own pieces into "
        "one touching group wins, so every capture also brings the opponent nearer to that goal. In Zen l'initié a "
        "neutral piece that both may move belongs to the group."
    ),
)
