"""The board as something to look at: cells, pieces, frozen pieces, check."""

from __future__ import annotations

from referee.rules.baroque.notation import pieces_of, square_name, squares_of
from referee.rules.baroque.state import LETTERS, NAMES, NO_CAPTURE, QUIET, SIDE
from referee.rules.rules import Board, Cell, Config, Mark, Piece, State

CELLS: tuple[Cell, ...] = tuple(Cell(square_name(square), square % 8, square // 8) for square in range(64))

_WHITE, _BLACK = "♙♖♘♗♕☆♔", "♟♜♞♝♛★♚"

PIECES: tuple[Piece, ...] = tuple(
    Piece(letter, name, "first", glyph) for letter, name, glyph in zip(LETTERS, NAMES, _WHITE, strict=True)
) + tuple(
    Piece(letter.lower(), name, "second", glyph) for letter, name, glyph in zip(LETTERS, NAMES, _BLACK, strict=True)
)

MARKS = (
    Mark("frozen", "cannot move", "frost"),
    Mark("check", "attacked king"),
)

EMBLEM = "M3 20h18v-2.5H3ZM3.5 16h17L22 6.5l-5.5 4L12 3.5 7.5 10.5 2 6.5Z"
"""A crown."""


def board(state: State, config: Config) -> Board:
    """A position with its frozen pieces (of both sides, each as if it were to move) and a checked king marked."""
    from referee.rules.baroque import kernel

    pieces = {square_name(square): letter for square, letter in pieces_of(state).items()}
    marks = {square_name(square): ("frozen",) for square in squares_of(int(kernel.frozen(state, config)))}
    notes = []
    if kernel.in_check(state, config):
        king = "k" if state[SIDE] else "K"
        cell = next(name for name, letter in pieces.items() if letter == king)
        marks[cell] = (*marks.get(cell, ()), "check")
        notes.append("check")
    quiet, limit = int(state[QUIET]), int(config[NO_CAPTURE])
    if quiet:
        notes.append(f"{quiet} plies without capture" + (f" of {limit}" if limit else ""))
    return Board("square", CELLS, pieces, marks, tuple(notes))
