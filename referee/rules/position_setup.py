"""Converts pieces on cells and a side to move to a position string of the family, and back.

The family's own reader checks which positions are valid.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from referee.rules.core import SIDES, Side
from referee.rules.position import Position
from referee.rules.rules import Cell, PositionSetup, Ruleset


class PositionSetupError(ValueError):
    """An impossible setup: an unknown cell, an unknown piece, or too many pieces on one cell."""


def compose(ruleset: Ruleset, pieces: Mapping[str, str], side: Side) -> str:
    """Return the position string of a start with these pieces, bottom first on each cell; it is not checked.

    Raise PositionSetupError for unknown cells or pieces, and for a family without `Rules.position_setup`.
    """
    setup = ruleset.rules.position_setup
    if setup is None:
        raise PositionSetupError(
            f"positions of {ruleset.rules.title} cannot be set up by pieces; write a position string"
        )
    cells = Position.start(ruleset).board.cells
    _check(setup, cells, {piece.symbol for piece in ruleset.rules.pieces}, pieces)
    return f"{write_board(setup, rows_of(setup, cells), pieces)} {setup.tails[SIDES.index(side)]}"


def rows_of(setup: PositionSetup, cells: Iterable[Cell]) -> list[list[str]]:
    """Return the names of the cells of each row, rows and cells in the order in which they are written."""
    rows: dict[float, list[Cell]] = defaultdict(list)
    for cell in cells:
        rows[round(cell.y, 2)].append(cell)
    return [
        [cell.name for cell in sorted(rows[y], key=lambda cell: cell.x)]
        for y in sorted(rows, reverse=setup.is_from_top)
    ]


def write_board(setup: PositionSetup, rows: Iterable[Iterable[str]], pieces: Mapping[str, str]) -> str:
    """Return the first field of a position string with these pieces."""
    return "/".join(_row([pieces.get(name, "") for name in row], setup) for row in rows)


def read_board(setup: PositionSetup, rows: Sequence[Sequence[str]], board: str) -> dict[str, str]:
    """Return the pieces by cell, bottom first, of the first field of a canonical position string."""
    pieces: dict[str, str] = {}
    for names, written in zip(rows, board.split("/"), strict=True):
        place = 0
        for word in re.findall(rf"[0-9]+|.{{{setup.width}}}", written):
            if word.isdecimal():
                place += int(word)
            else:
                pieces[names[place]] = word.rstrip("-")
                place += 1
    return pieces


def _check(setup: PositionSetup, cells: tuple[Cell, ...], symbols: set[str], pieces: Mapping[str, str]) -> None:
    names = {cell.name for cell in cells}
    for name, held in pieces.items():
        if name not in names:
            raise PositionSetupError(f"unknown cell {name[:20]!r}")
        if unknown := set(held) - symbols:
            raise PositionSetupError(f"unknown piece {min(unknown)!r}")
        if len(held) > setup.max_pieces:
            raise PositionSetupError(f"{len(held)} pieces on {name}: at most {setup.max_pieces} allowed")


def _row(held: list[str], setup: PositionSetup) -> str:
    """Return the text of a row: the pieces of its cells, runs of empty cells as numbers."""
    found = []
    for is_empty, run in groupby(held, key=lambda symbols: not symbols):
        symbols = list(run)
        found.append(str(len(symbols)) if is_empty else "".join(one.ljust(setup.width, "-") for one in symbols))
    return "".join(found)
