"""Hexapawn as something to look at."""

from __future__ import annotations

from referee.rules.rules import Board, Cell, Config, Piece, State

from .state import WIDTH, is_giving
from .tables import NAMES, SQUARES

PIECES = (Piece("w", "white pawn", "first", "♙"), Piece("b", "black pawn", "second", "♟"))

_HELD = ("", "w", "b", "ww", "bb")


def board(state: State, config: Config) -> Board:
    """The squares, the pawns, and the towers marked `stack`."""
    squares = [square for square in range(SQUARES) if square % 4 < config[WIDTH]]
    pieces = {NAMES[i]: _HELD[int(state[i])] for i in squares if state[i]}
    return Board(
        "square",
        tuple(Cell(NAMES[i], i % 4, i // 4, "plain" if i // 4 == 1 else "goal") for i in squares),
        pieces,
        {name: ("stack",) for name, held in pieces.items() if len(held) == 2},
        ("gift phase: take a pawn of yours off the board, or pass",) if is_giving(state, config) else (),
    )
