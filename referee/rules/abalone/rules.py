"""The `Rules` record of Abalone: options, starts, pieces and what reads and writes its texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from referee.rules.abalone import gametext, layout, notation
from referee.rules.abalone.starts import STARTS
from referee.rules.core import Termination
from referee.rules.rules import Config, GameFormat, Notation, Option, Piece, Rules, State, Value, Variant

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


def _resolve(name: str, options: Mapping[str, Value]) -> Variant | None:
    """Any position string as a variant, under its canonical text. Raises ParseError for one that cannot be read."""
    if "/" not in name:
        return None
    config = np.zeros(len(OPTIONS), dtype=np.int64)
    position = notation.write_position(notation.read_position(name, config), config)
    return Variant(position, position, note="a position string")


def _side(state: State, config: Config) -> int:
    return int(state[notation.SIDE])


RULES: Final = Rules(
    family="abalone",
    title="Abalone",
    version=1,
    sides=("Black", "White"),
    options=OPTIONS,
    variants=STARTS,
    notation=Notation(
        read_position=notation.read_position,
        write_position=notation.write_position,
        read_move=notation.read_move,
        write_move=notation.write_move,
        display_move=notation.display_move,
    ),
    pieces=(Piece("S", "black marble", "first", "●"), Piece("s", "white marble", "second", "○")),
    board=layout.board,
    side=_side,
    kernel_module="referee.rules.abalone.kernel",
    reasons=(
        EJECTIONS,
        Termination.NO_MOVES,
        Termination.REPETITION,
        NO_EJECTION,
        Termination.MAX_PLIES,
    ),
    resolve=_resolve,
    formats=(
        GameFormat("aba-pro", gametext.read_linear, gametext.write_linear, "moves in Aba-Pro coordinates, numbered"),
        GameFormat("aba-pro-table", gametext.read_table, gametext.write_table, "a numbered row for each pair of moves"),
    ),
    keeps_moves=frozenset({Termination.REPETITION, NO_EJECTION, Termination.MAX_PLIES}),
    summary=(
        "Two sides with usually fourteen marbles each on a hexagon of 61 cells. A turn moves one, two or three own "
        "marbles of one straight line by one cell, along the line or broadside. Moving along the line, more marbles "
        "push fewer: three push two or one, two push one. A marble pushed over the edge is ejected; who ejects six "
        "wins. An own marble never leaves the board, and pushing is never compulsory."
    ),
)
