"""Positions of Baroque chess prepared for drawing: cells, pieces, frozen pieces, check."""

from __future__ import annotations

from referee.rules.baroque.notation import pieces_of, square_name, squares_of, victim_squares
from referee.rules.baroque.state import LETTERS, NAMES, NO_CAPTURE_LIMIT, QUIET, SIDE
from referee.rules.rules import Board, Cell, Config, Effect, Mark, Piece, State

CELLS: tuple[Cell, ...] = tuple(Cell(square_name(square), square % 8, square // 8) for square in range(64))

_WHITE, _BLACK = "♙♖♘♗♕☆♔", "♟♜♞♝♛★♚"

_NOTES = (
    "moves like a rook; captures enemies between itself and another own piece, along rank or file",
    "moves like a queen; captures enemies on the corners of the rectangle that it forms with its king",
    "moves like a queen; captures enemies that it leaps over in a straight line",
    "moves like a queen; captures each enemy by that enemy's own method",
    "moves like a queen; captures the enemy it moves straight away from",
    "moves like a queen; captures nothing, but freezes all enemies next to it",
    "moves one step; captures as in chess",
)
"""How each kind moves and captures, in the order of `LETTERS`."""

PIECES: tuple[Piece, ...] = tuple(
    Piece(letter, name, "first", glyph, note)
    for letter, name, glyph, note in zip(LETTERS, NAMES, _WHITE, _NOTES, strict=True)
) + tuple(
    Piece(letter.lower(), name, "second", glyph, note)
    for letter, name, glyph, note in zip(LETTERS, NAMES, _BLACK, _NOTES, strict=True)
)


MARKS = (
    Mark("frozen", "cannot move", "frost"),
    Mark("check", "attacked king"),
)

EMBLEM = "M3 20h18v-2.5H3ZM3.5 16h17L22 6.5l-5.5 4L12 3.5 7.5 10.5 2 6.5Z"
"""A crown."""


def effect(code: int, before: State, after: State, config: Config) -> Effect:
    """Return the pieces that help with a move's captures: the partner of a pinch, the king of a coordination."""
    origin, end = divmod(code, 64)
    stood, left = pieces_of(before), pieces_of(after)
    letter = stood[origin].upper()
    between = []
    for square in victim_squares(code, before, config):
        method = stood[square].upper() if letter == "B" else letter
        partner = 2 * square - end if method == "P" else _king(left, before) if method == "R" else None
        if partner is not None:
            between.append((square_name(end), square_name(partner)))
    return Effect(between=tuple(between))


def _king(pieces: dict[int, str], before: State) -> int | None:
    """Return the square of the king of the side that moved."""
    letter = "k" if before[SIDE] else "K"
    return next((square for square, one in pieces.items() if one == letter), None)


def board(state: State, config: Config) -> Board:
    """Return a position with labels on a checked king and on the frozen pieces.

    For the side that is not to move, these are the pieces that would be frozen if it were to move.
    """
    from referee.rules.baroque import kernel

    pieces = {square_name(square): letter for square, letter in pieces_of(state).items()}
    marks = {square_name(square): ("frozen",) for square in squares_of(int(kernel.frozen(state, config)))}
    notes = []
    if kernel.in_check(state, config):
        king = "k" if state[SIDE] else "K"
        cell = next(name for name, letter in pieces.items() if letter == king)
        marks[cell] = (*marks.get(cell, ()), "check")
        notes.append("check")
    quiet, limit = int(state[QUIET]), int(config[NO_CAPTURE_LIMIT])
    if quiet:
        notes.append(f"{quiet} plies without capture" + (f" of {limit}" if limit else ""))
    return Board("square", CELLS, pieces, marks, tuple(notes))
