"""The board of 45 hexagons as constant tables: names, neighbours, masks.

Cells are numbered row by row, so that a step in any of the six directions is one fixed difference:

       g    39  40  41  42  43  44            +6  +7
       f  32  33  34  35  36  37  38            \\ /
       e    26  27  28  29  30  31          -1 -- o -- +1
       d  19  20  21  22  23  24  25            / \\
       c    13  14  15  16  17  18            -7  -6
       b   6   7   8   9  10  11  12
       a     0   1   2   3   4   5

A set of cells is an int64 with one bit per cell (45 bits, so the sign is never touched).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

CELL_COUNT = 45
ROWS = "abcdefg"
ROW_LENGTHS = (6, 7, 6, 7, 6, 7, 6)
ROW_STARTS = (0, 6, 13, 19, 26, 32, 39)
CELL_NAMES = tuple(
    f"{row}{column + 1}" for row, length in zip(ROWS, ROW_LENGTHS, strict=True) for column in range(length)
)
CELL_NUMBERS = {name: number for number, name in enumerate(CELL_NAMES)}

ALL_CELLS = (1 << CELL_COUNT) - 1
ROW_A = (1 << 6) - 1
ROW_G = ROW_A << 39

STEPS = (-7, -6, -1, 1, 6, 7)
"""The directions in ascending order; the opposite of direction d is direction 5 - d."""


def coordinates(cell: int) -> tuple[int, int]:
    """Return (x, y) of a cell: x in half cell widths from the left edge, y the row from 0."""
    row = next(row for row in range(6, -1, -1) if cell >= ROW_STARTS[row])
    column = cell - ROW_STARTS[row]
    return 2 * column + (row % 2 == 0), row


def turn_cells(code: int) -> tuple[str, str, str]:
    """Return the names of the start, middle and end of a turn; the end is empty for a turn of two cells."""
    third = code & 63
    return CELL_NAMES[code >> 12], CELL_NAMES[code >> 6 & 63], CELL_NAMES[third - 1] if third else ""


def swap_cells(code: int) -> tuple[str, str]:
    """Return the names of the two cells of a swap; those of the pass are equal."""
    return CELL_NAMES[code >> 6 & 63], CELL_NAMES[code & 63]


_PLACES = {coordinates(cell): cell for cell in range(CELL_COUNT)}
_VECTORS = ((-1, -1), (1, -1), (-2, 0), (2, 0), (-1, 1), (1, 1))


def _ray(cell: int, direction: int, length: int) -> int:
    """Return the cell `length` steps away as a one-bit set; off the board the empty set."""
    x, y = coordinates(cell)
    dx, dy = _VECTORS[direction]
    found = _PLACES.get((x + dx * length, y + dy * length))
    return 0 if found is None else 1 << found


def _jumps() -> npt.NDArray[np.int64]:
    """Return the reachable cells two steps away, by [cell, set of directions in which the neighbour is empty]."""
    jumps = np.zeros((CELL_COUNT, 64), dtype=np.int64)
    for cell in range(CELL_COUNT):
        behind = [(1 << d, _ray(cell, d, 2)) for d in range(6) if _ray(cell, d, 1)]
        jumps[cell] = [sum(two for bit, two in behind if free & bit) for free in range(64)]
    return jumps


NEAR = np.array([sum(_ray(cell, d, 1) for d in range(6)) for cell in range(CELL_COUNT)], dtype=np.int64)
"""The neighbours of each cell as a set."""

JUMPS = _jumps()

EDGE = np.array([sum(1 << cell for cell in range(CELL_COUNT) if _ray(cell, d, 1)) for d in range(6)], dtype=np.int64)
"""For each direction the cells that have a neighbour there."""
