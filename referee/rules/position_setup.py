"""Positions set up by hand: pieces on cells and a side to move, written as the family's position text.

What may stand where is said by the family's reader of positions, which checks the text. Refuses to know any family.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from itertools import groupby

from referee.rules.core import SIDES, Side
from referee.rules.position import Position
from referee.rules.rules import Cell, PositionSetup, Ruleset


class PositionSetupError(ValueError):
    """Something stands where nothing can: no such cell, no such piece, too many on one cell."""


def compose(ruleset: Ruleset, pieces: Mapping[str, str], side: Side) -> str:
    """The text of a position with these pieces on cells, bottom first, and nothing played yet; the family has not
    checked it. Raises PositionSetupError, also for a family whose positions are not set up so.
    """
    setup = ruleset.rules.position_setup
    if setup is None:
        raise PositionSetupError(f"positions of {ruleset.rules.title} are set up by their text alone")
    cells = Position.start(ruleset).board.cells
    _check(setup, cells, {piece.symbol for piece in ruleset.rules.pieces}, pieces)
    rows: dict[float, list[Cell]] = defaultdict(list)
    for cell in cells:
        rows[round(cell.y, 2)].append(cell)
    written = (
        _row([pieces.get(cell.name, "") for cell in sorted(rows[y], key=lambda cell: cell.x)], setup)
        for y in sorted(rows, reverse=setup.is_from_top)
    )
    return f"{'/'.join(written)} {setup.tails[SIDES.index(side)]}"


def _check(setup: PositionSetup, cells: tuple[Cell, ...], symbols: set[str], pieces: Mapping[str, str]) -> None:
    names = {cell.name for cell in cells}
    for name, held in pieces.items():
        if name not in names:
            raise PositionSetupError(f"no cell {name[:20]!r}")
        if unknown := set(held) - symbols:
            raise PositionSetupError(f"no piece {min(unknown)!r}")
        if len(held) > setup.max_pieces:
            raise PositionSetupError(f"{len(held)} pieces on {name}: {setup.max_pieces} at most")


def _row(held: list[str], setup: PositionSetup) -> str:
    """What stands on the cells of a row; so many empty ones in a run as a number."""
    found = []
    for is_empty, run in groupby(held, key=lambda symbols: not symbols):
        symbols = list(run)
        found.append(str(len(symbols)) if is_empty else "".join(one.ljust(setup.width, "-") for one in symbols))
    return "".join(found)
