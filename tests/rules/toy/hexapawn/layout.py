"""Hexapawn as something to look at."""

from __future__ import annotations

from referee.rules.rules import Board, Cell, Config, Piece, State

from .notation import WIDTH, name

PIECES = (Piece("w", "white pawn", "first", "♙"), Piece("b", "black pawn", "second", "♟"))


def board(state: State, config: Config) -> Board:
    """The squares and the pawns."""
    squares = [square for square in range(12) if square % 4 < config[WIDTH]]
    cells = tuple(Cell(name(i), i % 4, i // 4, "plain" if i // 4 == 1 else "goal") for i in squares)
    return Board("square", cells, {name(i): " wb"[int(state[i])] for i in squares if state[i]})
