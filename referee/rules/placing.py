"""Positions set up by hand: pieces on cells and a side to move, written as the family's position text.

What may stand where is said by the family's reader of positions, which checks the text. Refuses to know any family.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from itertools import groupby

from referee.rules.core import SIDES, Side
from referee.rules.position import Position
from referee.rules.rules import Cell, Placing, Ruleset


class PlacingError(ValueError):
    """Something stands where nothing can: no such cell, no such piece, too many on one cell."""


def placed(ruleset: Ruleset, pieces: Mapping[str, str], side: Side) -> str:
    """The text of a position with these pieces on cells, bottom first, and nothing played yet; the family has not
    checked it. Raises PlacingError, also for a family whose positions are not set up so.
    """
    placing = ruleset.rules.placing
    if placing is None:
        raise PlacingError(f"positions of {ruleset.rules.title} are set up by their text alone")
    cells = Position.start(ruleset).board.cells
    _check(placing, cells, {piece.symbol for piece in ruleset.rules.pieces}, pieces)
    rows: dict[float, list[Cell]] = defaultdict(list)
    for cell in cells:
        rows[round(cell.y, 2)].append(cell)
    written = (
        _row([pieces.get(cell.name, "") for cell in sorted(rows[y], key=lambda cell: cell.x)], placing)
        for y in sorted(rows, reverse=placing.is_from_top)
    )
    return f"{'/'.join(written)} {placing.tails[SIDES.index(side)]}"


def _check(placing: Placing, cells: tuple[Cell, ...], symbols: set[str], pieces: Mapping[str, str]) -> None:
    names = {cell.name for cell in cells}
    for name, held in pieces.items():
        if name not in names:
            raise PlacingError(f"no cell {name[:20]!r}")
        if unknown := set(held) - symbols:
            raise PlacingError(f"no piece {min(unknown)!r}")
        if len(held) > placing.most:
            raise PlacingError(f"{len(held)} pieces on {name}: {placing.most} at most")


def _row(held: list[str], placing: Placing) -> str:
    """What stands on the cells of a row; so many empty ones in a run as a number."""
    found = []
    for is_empty, run in groupby(held, key=lambda symbols: not symbols):
        symbols = list(run)
        found.append(str(len(symbols)) if is_empty else "".join(one.ljust(placing.width, "-") for one in symbols))
    return "".join(found)
