"""The geometry of a board on its drawing: centres of cells, labels, rim and trough."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from math import sqrt

from arena.pages.drawing.piece_shapes import CELL
from referee.rules.core import Side
from referee.rules.rules import Board, Cell

_MARGIN, _EDGE = 22.0, 4.0
"""Width of the border with labels, and of the one without."""
_RIM, TROUGH = 38.0, 34.0
"""Width of the rim around a hexagonal board, measured at its corners, and of the trough around the rim."""
_SLOTS, _SLOT = 6, 31.0
"""Number of pieces that a side of the trough holds, and their distance."""
ALGEBRAIC = re.compile(r"([a-z]+)(\d+)", re.ASCII)


def coordinate(value: float) -> str:
    """Return a coordinate as it is written in drawings."""
    return f"{value:.1f}".rstrip("0").rstrip(".")


class Geometry:
    """Positions of the cells of a board on the drawing.

    A hexagonal board whose cell numbers run along straight lines is rimmed: its labels are on a rim, and a trough
    around the rim holds the pieces that left the board.
    """

    def __init__(self, board: Board, *, is_flipped: bool) -> None:
        self.board, self.is_flipped = board, is_flipped
        self.is_hex = board.shape == "hex"
        self.half_height = CELL / sqrt(3) if self.is_hex else CELL / 2
        xs, ys = [cell.x for cell in board.cells], [cell.y for cell in board.cells]
        self.lines = _numbered_lines(board) if self.is_hex else {}
        self.is_rimmed = bool(self.lines)
        self.rim = (max(xs) - min(xs)) * CELL / 2 + _RIM
        """Distance of the rim's corners from the middle."""
        self.is_edged = not self.is_hex and all(ALGEBRAIC.fullmatch(cell.name) for cell in board.cells)
        margin = _MARGIN if self.is_edged else _EDGE
        across, down = (max(xs) - min(xs) + 1) * CELL, (max(ys) - min(ys)) * CELL + 2 * self.half_height
        left, top = margin, _EDGE
        self.width, self.height = margin + across + _EDGE, _EDGE + down + margin
        if self.is_rimmed:
            outer = self.rim + TROUGH
            self.width, self.height = 2 * outer + 2, outer * sqrt(3) + 2
            left, top = (self.width - across) / 2, (self.height - down) / 2
        self.middle = (left + across / 2, top + down / 2)
        left, top = left - min(xs) * CELL + CELL / 2, top + max(ys) * CELL + self.half_height
        self.places = {cell.name: self._turned(left + cell.x * CELL, top - cell.y * CELL) for cell in board.cells}
        """Centres of the cells."""

    def _turned(self, x: float, y: float) -> tuple[float, float]:
        """Return where a point lies on the drawing, half a turn away if it is flipped."""
        a, b = self.middle
        return (2 * a - x, 2 * b - y) if self.is_flipped else (x, y)

    @property
    def slots(self) -> dict[Side, list[tuple[float, float]]]:
        """Places in the trough for the pieces of each side that left the board: at the opponent's edge."""
        if not self.is_rimmed:
            return {}
        x, y = self.middle
        far = (self.rim + TROUGH / 2) * sqrt(3) / 2
        row = [(x + (index - (_SLOTS - 1) / 2) * _SLOT, far) for index in range(_SLOTS)]
        return {
            "first": [self._turned(a, y - b) for a, b in row],
            "second": [self._turned(a, y + b) for a, b in row],
        }

    def hexagon(self, radius: float) -> str:
        """Return the path of a hexagon around the middle of the board, with corners left and right."""
        x, y = self.middle
        r, h, d = coordinate(radius), coordinate(radius / 2), coordinate(radius * sqrt(3) / 2)
        return f"M{coordinate(x - radius)} {coordinate(y)}l{h}-{d}h{r}l{h} {d}l-{h} {d}h-{r}z"

    def frame(self, *, is_small: bool) -> tuple[float, float, float, float]:
        """Return the visible part of the drawing: left, top, width, height. A small drawing has no labels or trough."""
        if not is_small:
            return 0, 0, self.width, self.height
        if self.is_rimmed:
            x, y = self.middle
            height = self.rim * sqrt(3)
            return x - self.rim, y - height / 2, 2 * self.rim, height
        return 0, 0, self.width, self.height - _MARGIN + _EDGE if self.is_edged else self.height

    def pit(self, cell: Cell) -> str:
        """Return the path of a round pit that holds a piece."""
        x, y = self.places[cell.name]
        r = 17
        return f"M{coordinate(x - r)} {coordinate(y)}a{r} {r} 0 1 0 {2 * r} 0a{r} {r} 0 1 0-{2 * r} 0z"

    def outline(self, cell: Cell) -> str:
        """Return the path around a cell."""
        x, y = self.places[cell.name]
        if not self.is_hex:
            return f"M{coordinate(x - CELL / 2)} {coordinate(y - CELL / 2)}h{CELL}v{CELL}h-{CELL}z"
        r = self.half_height
        w, h = CELL // 2, coordinate(r / 2)
        return f"M{coordinate(x)} {coordinate(y - r)}l{w} {h}v{coordinate(r)}l-{w} {h}l-{w}-{h}v-{coordinate(r)}z"


def _numbered_lines(board: Board) -> dict[str, list[Cell]]:
    """Return the cells by the number in their names, from the top down.

    The result is empty if a name has no number, or if the cells of one number do not lie on a straight line.
    """
    lines: dict[str, list[Cell]] = {}
    for cell in sorted(board.cells, key=lambda cell: -cell.y):
        if (name := ALGEBRAIC.fullmatch(cell.name)) is None:
            return {}
        lines.setdefault(name[2], []).append(cell)
    for line in lines.values():
        steps = {(round(b.x - a.x, 2), round(b.y - a.y, 2)) for a, b in pairwise(line)}
        if len(steps) > 1:
            return {}
    return lines


@lru_cache(maxsize=64)
def _plan(shape: str, cells: tuple[Cell, ...], is_flipped: bool) -> Geometry:
    return Geometry(Board(shape, cells, {}), is_flipped=is_flipped)  # type: ignore[arg-type]


def plan(board: Board, *, is_flipped: bool = False) -> Geometry:
    """Return the geometry of a board."""
    return _plan(board.shape, board.cells, is_flipped)
