"""Positions prepared for drawing."""

from __future__ import annotations

from referee.rules.rules import Board, Cell, Config, Mark, Piece, State

from .tables import NAMES

PIECES = (Piece("b", "black disc", "first", "●"), Piece("w", "white disc", "second", "○"))

MARKS: tuple[Mark, ...] = ()

EMBLEM = "M12 2a10 10 0 1 0 0 20a10 10 0 1 0 0 -20Z M12 4a8 8 0 0 1 0 16Z"
"""A disc of two colours."""


def board(state: State, config: Config) -> Board:
    """Return the squares and the discs, with their number."""
    cells = tuple(Cell(name, i % 8, 7 - i // 8, "plain") for i, name in enumerate(NAMES))
    black, white = (int((state[:64] == colour).sum()) for colour in (1, 2))
    return Board(
        "square",
        cells,
        {NAMES[i]: "bw"[int(state[i]) - 1] for i in range(64) if state[i]},
        notes=(f"Black {black}, White {white}",),
    )
