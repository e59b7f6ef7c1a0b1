"""Draws a `Board` as lines of text, for terminals and playthrough files: one character column per half cell.

It needs the layout alone, so it works for any family. It writes no colour codes: `paint` gets each piece of text with
its kind and may wrap it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Literal, TypeAlias

from referee.rules.rules import Board, Cell, Piece

Word: TypeAlias = Literal["first", "second", "neutral", "cell", "label", "note"]
"""The kind of a piece of text: a piece by its owner, an empty cell, a coordinate, or a line below the board."""

Paint: TypeAlias = Callable[[str, Word], str]

_SPECIAL = "+*x%=&@~^"
"""The characters of empty special cells, assigned to their kinds in alphabetical order. A hole is a blank."""

_MAX_LISTED = 16
"""A label on more cells than this is not listed below the board: the list would not help."""


def _plain(text: str, word: Word) -> str:
    return text


def special_cells(board: Board) -> dict[str, str]:
    """Return the character of each kind of special cell of a board."""
    kinds = sorted({cell.kind for cell in board.cells} - {"plain", "hole"})
    found = {kind: _SPECIAL[number % len(_SPECIAL)] for number, kind in enumerate(kinds)}
    return {"plain": ".", "hole": " "} | found


def rows(board: Board) -> list[list[Cell]]:
    """Return the cells in rows, top row first, each from left to right."""
    found: dict[float, list[Cell]] = defaultdict(list)
    for cell in board.cells:
        found[round(cell.y, 3)].append(cell)
    return [sorted(found[y], key=lambda cell: cell.x) for y in sorted(found, reverse=True)]


def _row_label(row: Sequence[Cell], columns: Mapping[float, str] | None) -> str:
    name = row[0].name
    return name.removeprefix(columns[row[0].x]).removesuffix(columns[row[0].x]) if columns else name


def _columns(lines: Sequence[Sequence[Cell]]) -> dict[float, str] | None:
    """Return the common part of the names in each column (`a` of a1, a2, ...); None if a column has no common part."""
    names: dict[float, list[str]] = defaultdict(list)
    for row in lines:
        for cell in row:
            names[cell.x].append(cell.name)
    if any(len(column) < 2 for column in names.values()):
        return None
    shared: dict[float, str] = {}
    for x, column in names.items():
        head = _shared(column)
        shared[x] = head or _shared([name[::-1] for name in column])[::-1]
    return shared if all(shared.values()) else None


def _shared(names: Sequence[str]) -> str:
    size = 0
    while len({name[: size + 1] for name in names}) == 1 and size + 1 < min(map(len, names)):
        size += 1
    return names[0][:size]


def _legend(board: Board) -> list[str]:
    empty = {cell.kind for cell in board.cells if cell.name not in board.pieces} - {"plain", "hole"}
    kinds = [f"{mark} {kind}" for kind, mark in special_cells(board).items() if kind in empty]
    marked: dict[str, list[str]] = defaultdict(list)
    for cell in board.cells:
        for mark in board.marks.get(cell.name, ()):
            marked[mark].append(cell.name)
    lists = [f"{mark}: {' '.join(names)}" for mark, names in sorted(marked.items()) if len(names) <= _MAX_LISTED]
    return ([", ".join(kinds)] if kinds else []) + lists


def draw(board: Board, pieces: Sequence[Piece], paint: Paint = _plain) -> str:
    """Return the board as text without a final newline: coordinates, pieces by symbol, then labels and notes.

    A square board has its files below and its ranks at the left. On a hexagonal board each row begins and ends with the
    name of its outermost cell. `pieces` gives the owner of each symbol.
    """
    lines = rows(board)
    columns = _columns(lines) if board.shape == "square" else None
    sides = {piece.symbol: piece.side or "neutral" for piece in pieces}
    width = max((len(symbols) for symbols in board.pieces.values()), default=1)
    gap = min((right.x - left.x for row in lines for left, right in pairwise(row)), default=1.0)
    pitch = (width + 2) // 2 * 2  # even, so that half a cell is a whole character
    left = min(cell.x for cell in board.cells)
    label = max(len(_row_label(row, columns)) for row in lines) + 2
    special = special_cells(board)

    def place(cell: Cell) -> int:
        return label + round((cell.x - left) / gap * pitch)

    drawn = []
    for row in lines:
        name = _row_label(row, columns)
        start = (place(row[0]) if columns is None else label) - 2 - len(name)
        parts, at = [" " * start, paint(name, "label")], start + len(name)
        for cell in row:
            symbols = board.pieces.get(cell.name, "")
            word = sides.get(symbols[-1:], "neutral") if symbols else "cell"
            shown = symbols or special[cell.kind]
            parts += [" " * (place(cell) - at), paint(shown, word)]
            at = place(cell) + len(shown)
        if columns is None and len(row) > 1:
            parts += [" " * (place(row[-1]) + width + 2 - at), paint(row[-1].name, "label")]
        drawn.append("".join(parts).rstrip())
    if columns is not None:
        parts, at = [], 0
        for x in sorted(columns):
            column = label + round((x - left) / gap * pitch)
            parts += [" " * (column - at), paint(columns[x], "label")]
            at = column + len(columns[x])
        drawn.append("".join(parts))
    drawn += [paint(line, "note") for line in (*_legend(board), *board.notes)]
    return "\n".join(drawn)
