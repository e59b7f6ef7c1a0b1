"""Positions prepared for drawing."""

from __future__ import annotations

from referee.rules.rules import Board, Cell, Config, Mark, Piece, State

from .state import WIDTH, is_giving
from .tables import NAMES, SQUARES

PIECES = (Piece("w", "white pawn", "first", "♙"), Piece("b", "black pawn", "second", "♟"))

MARKS = (Mark("stack", "", "none"),)

EMBLEM = "M6 22h12v-3l-3-2-1.2-6h2.2v-2h-2A4 4 0 1 0 10 9H8v2h2.2L9 17l-3 2Z"
"""A pawn."""

_HELD = ("", "w", "b", "ww", "bb")


def board(state: State, config: Config) -> Board:
    """Return the squares, the pawns, and the towers with the label `stack`."""
    squares = [square for square in range(SQUARES) if square % 4 < config[WIDTH]]
    pieces = {NAMES[i]: _HELD[int(state[i])] for i in squares if state[i]}
    return Board(
        "square",
        tuple(Cell(NAMES[i], i % 4, i // 4, "plain" if i // 4 == 1 else "goal") for i in squares),
        pieces,
        {name: ("stack",) for name, held in pieces.items() if len(held) == 2},
        ("gift phase: take a pawn of yours off the board, or pass",) if is_giving(state, config) else (),
    )
