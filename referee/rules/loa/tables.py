"""Constant tables of the kernels, computed with numpy on import.

The lines of a board, whatever its size, have fixed numbers (rank and file from 0):

    0..11   ranks: the rank                 24..46  rising diagonals: 24 + 11 + rank - file
    12..23  files: 12 + the file            47..69  falling diagonals: 47 + rank + file

A line's pattern has a bit per square: its rank on a file, its file on any other line.

The 46 lines of the 8x8 board are also numbers in base 3 (a digit per square: 0 empty, 1 first side, 2 second). An
offset separates the lengths, so one look-up in a table of 9,840 entries returns any property of a line.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

LINES = 70

BLACK: Any = np.int64(0)
WHITE: Any = np.int64(1)
THIRD: Any = np.int64(2)
NOWHERE: Any = np.int64(-1)
"""Both sides, the neutral piece, and no square, as arguments: numba would compile a version for every bare number."""


def _line_masks() -> npt.NDArray[np.int64]:
    """Return, by [size, line], the bits of a line's pattern that are on a board of that size."""
    masks = np.zeros((13, LINES), dtype=np.int64)
    for size in range(1, 13):
        for rank in range(size):
            for file in range(size):
                for line, place in (
                    (rank, file),
                    (12 + file, rank),
                    (35 + rank - file, file),
                    (47 + rank + file, file),
                ):
                    masks[size, line] |= 1 << place
    return masks


LINE_MASK = _line_masks()

LINES8 = 46
OFFSET = [0, *(sum(3**length for length in range(1, stop)) for stop in range(1, 10))]
"""First index of the lines of each length (1..8) in the tables of ternary lines; the last entry is the table size."""
TERNARY = OFFSET[9]


def _geometry8() -> tuple[npt.NDArray[np.int64], ...]:
    """Return line, place and value (`3 ** place`) of the digits of the 8x8 board, and the number of each empty line.

    The first three are for square `i` and direction `d` at index `4 * i + d`.
    """
    line, place = np.zeros(256, dtype=np.int64), np.zeros(256, dtype=np.int64)
    empty = np.zeros(LINES8, dtype=np.int64)
    for i in range(64):
        rank, file = divmod(i, 8)
        rising, falling = rank - file, rank + file
        for d, (number, where, length) in enumerate(
            (
                (rank, file, 8),
                (8 + file, rank, 8),
                (23 + rising, min(rank, file), 8 - abs(rising)),
                (31 + falling, min(file, 7 - rank), 8 - abs(falling - 7)),
            )
        ):
            line[4 * i + d], place[4 * i + d], empty[number] = number, where, OFFSET[length]
    return line, place, 3**place, empty


LINE8, PLACE8, WORTH8, EMPTY8 = _geometry8()


def _ternary() -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return tables over all ternary lines: number of pieces, number of moves, and sources of moves.

    Moves and sources are for each side, at index side * TERNARY + line. Sources are bits: 0..7 for moves upwards, 8..15
    downwards.
    """
    stones = np.zeros(TERNARY, dtype=np.int64)
    ways = np.zeros((2, TERNARY), dtype=np.int64)
    for length in range(1, 9):
        # A row for each place, as int8 to save time: each process that plays computes these tables.
        digits = (np.arange(3**length) // 3 ** np.arange(length)[:, None] % 3).astype(np.int8)
        distance = np.count_nonzero(digits, axis=0)
        sources = np.zeros((2, 3**length), dtype=np.int64)
        for side, (own, opp) in enumerate(((1, 2), (2, 1))):
            for source in range(length):
                for target in range(length):
                    low, high = sorted((source, target))
                    if source == target:
                        continue
                    legal = (digits[source] == own) & (digits[target] != own) & (distance == high - low)
                    legal &= ~(digits[low + 1 : high] == opp).any(axis=0)
                    sources[side] |= legal.astype(np.int64) << (source + (8 if target < source else 0))
        here = slice(OFFSET[length], OFFSET[length] + 3**length)
        stones[here], ways[:, here] = distance, sources
    flat = ways.reshape(-1)
    return stones, sum((flat >> bit & 1 for bit in range(16)), np.zeros_like(flat)), flat


STONES, COUNTS, WAYS = _ternary()
LEAD8 = (COUNTS[:TERNARY] - COUNTS[TERNARY:]).astype(np.int8)
"""For every ternary line: the number of moves of the first side minus that of the second."""
DIGITS8 = np.array([int(f"{mask:b}", 3) for mask in range(256)], dtype=np.uint64)
"""For a mask of eight bits: the number in base 3 with these digits."""


def _squares8() -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """Return, for each of the 46 lines, its squares on the 8x8 board, and its first file."""
    squares = np.zeros(LINES8, dtype=np.uint64)
    for i in range(256):
        squares[LINE8[i]] |= np.uint64(1 << (i >> 2))
    first = [min(i & 7 for i in range(64) if int(mask) >> i & 1) for mask in squares]
    return squares, np.array(first, dtype=np.uint64)


SQUARES8, FILE8 = _squares8()


HOLES = np.array([f"{mask:b}".strip("0").count("0") for mask in range(256)], dtype=np.int64)
"""[mask of eight bits]: the number of zeros between its lowest and its highest one."""
