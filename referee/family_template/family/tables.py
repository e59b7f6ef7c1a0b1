"""The board: nine squares and their names.

rank 3    6  7  8
rank 2    3  4  5
rank 1    0  1  2
          a  b  c
"""

from __future__ import annotations

FILES = "abc"
NAMES = tuple(f"{FILES[square % 3]}{square // 3 + 1}" for square in range(9))
NUMBERS = {name: square for square, name in enumerate(NAMES)}
