"""The board of hexapawn: twelve squares and their names.

rank 3    8  9 10 11
rank 2    4  5  6  7
rank 1    0  1  2  3
          a  b  c  d      only the variant `wide` has the file d
"""

from __future__ import annotations

SQUARES = 12
FILES = "abcd"
NAMES = tuple(f"{FILES[square % 4]}{square // 4 + 1}" for square in range(SQUARES))
NUMBERS = {name: square for square, name in enumerate(NAMES)}
