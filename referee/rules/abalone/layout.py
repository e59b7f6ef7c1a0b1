"""Abalone positions prepared for drawing: cells with coordinates, marbles, labels and notes such as the score."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import Final

from referee.rules.abalone.state import (
    BLACK,
    BY_BLACK,
    BY_WHITE,
    NO_EJECTION_LIMIT,
    QUIET,
    SIDE,
    WHITE,
    WIN_SCORE,
    boards,
    cells,
    ejectable,
)
from referee.rules.abalone.tables import (
    INLINE,
    MOVE_CODES,
    NAMES,
    NEIGHBOURS,
    PLACES,
    code_direction,
    code_line,
    code_shape,
)
from referee.rules.rules import Board, Cell, Config, Effect, Mark, Piece, State

PIECES: Final = (Piece("S", "black marble", "first", "●"), Piece("s", "white marble", "second", "○"))


def _cell(number: int) -> Cell:
    row, digit = PLACES[number]
    return Cell(NAMES[number], x=digit - 1 - (row - 5) / 2, y=(row - 1) * sqrt(3) / 2)


CELLS: Final = tuple(_cell(number) for number in PLACES)
"""All 61 cells, a1 to i9; pointed-top hexagons, one width apart."""


def board(state: State, config: Config) -> Board:
    """Return the marbles (`S` Black, `s` White), labels on those that can be pushed off next, and the score."""
    black, white = cells(int(state[BLACK])), cells(int(state[WHITE]))
    own, enemy = boards(state)
    marks = {NAMES[cell]: ("in-danger",) for cell in sorted(ejectable(own, enemy), key=NAMES.__getitem__)}
    limit = int(config[NO_EJECTION_LIMIT])
    return Board(
        shape="hex",
        cells=CELLS,
        pieces={NAMES[cell]: "S" if cell in black else "s" for cell in PLACES if cell in black | white},
        marks=marks,
        notes=(
            f"score {state[BY_BLACK]}-{state[BY_WHITE]} (to win: {config[WIN_SCORE]})",
            f"marbles {len(black)}-{len(white)}",
            f"plies since the last ejection: {state[QUIET]}" + (f" of {limit}" if limit else ""),
        ),
    )


def effect(code: int, before: State, after: State, config: Config) -> Effect:
    """Return, for an inline move, the whole row that it moves and the marble that it ejects."""
    if code_shape(code) != INLINE:
        return Effect()
    black, white = cells(int(before[BLACK])), cells(int(before[WHITE]))
    way = NEIGHBOURS[code_direction(code)]
    (cell,) = code_line(code)
    row = []
    while cell in black | white:
        row.append(cell)
        cell = way[cell]
    ejected = ("S" if row[-1] in black else "s") if cell < 0 else ""
    own = white if before[SIDE] else black
    pushed = len([marble for marble in row if marble not in own])
    names = tuple(NAMES[place] for place in (*row, *([cell] if cell >= 0 else [])))
    if not pushed:
        return Effect(line=names)
    said = f"{len(row) - pushed} push {pushed}"
    return Effect(f"{said}, {NAMES[row[-1]]} is ejected" if ejected else said, names, ejected)


def move_input(code: int, state: State) -> tuple[tuple[str, ...], ...]:
    """Return the cells to pick: for an inline move the rearmost marble and the cell ahead of the row.

    Players also aim at the next marble of the row, or at its front marble. For a broadside pick one end of the row, the
    other end, and the target of the end picked first.
    """
    ahead, line = NEIGHBOURS[code_direction(code)], code_line(code)
    if code_shape(code) == INLINE:
        (own, _), row = boards(state), [line[0]]
        while row[-1] in own:
            row.append(ahead[row[-1]])
        aims = dict.fromkeys((row[-1], row[1], row[-2]))  # without the repetitions of short rows
        return tuple((NAMES[row[0]], NAMES[cell]) for cell in aims if cell != row[0])
    return tuple(
        (NAMES[first], NAMES[last], NAMES[ahead[first]]) for first, last in ((line[0], line[-1]), (line[-1], line[0]))
    )


def take_back(move: str, pieces: Mapping[str, str]) -> dict[str, str]:
    """Return the marbles before a move that pushed nothing, given its canonical text and the marbles after it."""
    code = MOVE_CODES[move]
    before, way, line = dict(pieces), NEIGHBOURS[code_direction(code)], code_line(code)
    first = NAMES[way[line[0]]]
    symbol = pieces.get(first, "")
    if code_shape(code) == INLINE:
        row = [way[line[0]]]
        while len(row) < 3 and pieces.get(NAMES.get(way[row[-1]], ""), "") == symbol:
            row.append(way[row[-1]])
        moved = [NAMES[row[-1]]]
    else:
        moved = [NAMES[way[cell]] for cell in line]
    for cell in moved:
        before.pop(cell, None)
    before |= dict.fromkeys((NAMES[cell] for cell in line), symbol)
    return before


MARKS = (Mark("in-danger", "can be pushed off", "flag"),)

EMBLEM = (
    "M9 12a3 3 0 1 0 6 0a3 3 0 1 0-6 0ZM16 12a3 3 0 1 0 6 0a3 3 0 1 0-6 0Z"
    "M2 12a3 3 0 1 0 6 0a3 3 0 1 0-6 0ZM12.5 5.9a3 3 0 1 0 6 0a3 3 0 1 0-6 0Z"
    "M5.5 5.9a3 3 0 1 0 6 0a3 3 0 1 0-6 0ZM12.5 18.1a3 3 0 1 0 6 0a3 3 0 1 0-6 0Z"
    "M5.5 18.1a3 3 0 1 0 6 0a3 3 0 1 0-6 0Z"
)
"""Seven marbles."""
