"""Constant tables of the kernels, computed with numpy when they are imported.

The lines of a board, whatever its size, have fixed numbers (rank and file from 0):

    0..11   ranks: the rank                 24..46  rising diagonals: 24 + 11 + rank - file
    12..23  files: 12 + the file            47..69  falling diagonals: 47 + rank + file

A line's pattern has a bit per square: its rank on a file, its file on any other line. Refuses to know positions.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

LINES = 70


def _line_masks() -> npt.NDArray[np.int64]:
    """Which bits of a line's pattern are on a board of a size: [size, line]."""
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
