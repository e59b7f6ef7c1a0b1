"""Positions as boards that pages and terminals can draw."""

from __future__ import annotations

from referee.rules.rules import Board, Cell, Config, Mark, Piece, State

from .tables import NAMES

PIECES = (Piece("w", "white pawn", "first", "♙"), Piece("b", "black pawn", "second", "♟"))

MARKS: tuple[Mark, ...] = ()

EMBLEM = "M6 22h12v-3l-3-2-1.2-6h2.2v-2h-2A4 4 0 1 0 10 9H8v2h2.2L9 17l-3 2Z"
"""A pawn: the path of an SVG 24 units wide."""


def board(state: State, config: Config) -> Board:
    """Return the squares of a position and the pieces on them."""
    cells = tuple(Cell(name, i % 3, i // 3, "plain" if i // 3 == 1 else "goal") for i, name in enumerate(NAMES))
    return Board("square", cells, {NAMES[i]: "wb"[int(state[i]) - 1] for i in range(9) if state[i]})
