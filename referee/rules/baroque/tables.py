"""Constant tables of the 8x8 board as bitboards: bit 0 is a1, bit 7 is h1, bit 63 is h8.

They are plain numpy arrays, which the compiled kernel embeds as constants.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Table: TypeAlias = npt.NDArray[np.uint64]

DIRECTIONS: tuple[tuple[int, int], ...] = ((1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1))
"""Steps (file, rank); the first four are those of a rook."""


def _walk(square: int, direction: tuple[int, int]) -> list[int]:
    """Return the squares on the way from `square` to the edge, nearest first."""
    x, y = square % 8 + direction[0], square // 8 + direction[1]
    met = []
    while 0 <= x < 8 and 0 <= y < 8:
        met.append(8 * y + x)
        x, y = x + direction[0], y + direction[1]
    return met


def _bits(squares: list[int]) -> int:
    return sum(1 << square for square in set(squares))


def _rays(reach: int, count: int) -> Table:
    """Return, for each square, the squares at most `reach` steps away in the first `count` directions."""
    rows = [_bits([to for step in DIRECTIONS[:count] for to in _walk(square, step)[:reach]]) for square in range(64)]
    return np.array(rows, dtype=np.uint64)


def _pairs() -> tuple[Table, Table, Table]:
    """Return the tables `BETWEEN`, `BEYOND` and `STRIDE`, which are described below."""
    between, beyond, stride = (np.zeros((64, 64), dtype=np.uint64) for _ in range(3))
    for start in range(64):
        for dx, dy in DIRECTIONS:
            met = _walk(start, (dx, dy))
            for place, end in enumerate(met):
                between[start, end] = _bits(met[:place])
                beyond[start, end] = _bits(met[place + 1 : place + 2])
                stride[start, end] = abs(dx + 8 * dy)
    return between, beyond, stride


NEAR: Table = _rays(1, 8)
"""The squares next to a square, in all eight directions."""
BESIDE: Table = _rays(1, 4)
"""The squares next to a square along its rank and file."""
LINES: Table = _rays(7, 8)
"""All squares in line with a square: its rank, file and diagonals without itself."""
CROSS: Table = _rays(7, 4)
"""The rank and file of a square without itself."""
RANK: Table = np.array([0xFF << (square & 56) for square in range(64)], dtype=np.uint64)
"""The whole rank of a square."""
FILE: Table = np.array([0x0101010101010101 << (square & 7) for square in range(64)], dtype=np.uint64)
"""The whole file of a square."""
BETWEEN, BEYOND, STRIDE = _pairs()
"""Three tables by (start, end), 0 if the squares are not in line. BETWEEN has the squares strictly between. BEYOND has
the square directly behind `end` as seen from `start` (0 off the board). STRIDE has the distance of neighbouring
squares of that line in bits (1, 7, 8 or 9).
"""
