"""The board of Tablut: cells and their names, bases, throne, border, and the 18 lines of sight.

Cell number = file * 9 + rank, so that ascending numbers are ascending names. The 18 lines are the ranks 1..9 (numbers
0..8, bit = file) and the files a..i (numbers 9..17, bit = rank). Refuses to know positions, options and numpy.

    9 . . . B B B . . .      B = base: west a4 a5 a6 b5, south d1 e1 f1 e2,
    8 . . . . B . . . .          north d9 e9 f9 e8, east i4 i5 i6 h5
    7 . . . . . . . . .      X = throne e5
    6 B . . . . . . . B
    5 B B . . X . . B B
    4 B . . . . . . . B
    3 . . . . . . . . .
    2 . . . . B . . . .
    1 . . . B B B . . .
      a b c d e f g h i
"""

from __future__ import annotations

SIZE = 9
CELLS = 81
LINES = 18
FULL = 511

NAMES = tuple(f"{file}{rank}" for file in "abcdefghi" for rank in range(1, SIZE + 1))
NUMBERS = {name: cell for cell, name in enumerate(NAMES)}
THRONE = NUMBERS["e5"]
BASE_GROUPS = tuple(
    frozenset(NUMBERS[name] for name in names.split())
    for names in ("a4 a5 a6 b5", "d1 e1 f1 e2", "d9 e9 f9 e8", "i4 i5 i6 h5")
)
BASE_CELLS = frozenset().union(*BASE_GROUPS)
BASE_MIDDLES = frozenset(NUMBERS[name] for name in ("e1", "a5", "i5", "e9"))
BORDER_CELLS = frozenset(cell for cell in range(CELLS) if {cell // SIZE, cell % SIZE} & {0, SIZE - 1})


def on_lines(cells: frozenset[int]) -> list[int]:
    """A set of cells as the bits of the 18 lines."""
    lines = [0] * LINES
    for cell in cells:
        file, rank = divmod(cell, SIZE)
        lines[rank] |= 1 << file
        lines[SIZE + file] |= 1 << rank
    return lines


def lines_through(cell: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """The rank and the file of a cell as (line, bit number)."""
    file, rank = divmod(cell, SIZE)
    return (rank, file), (SIZE + file, rank)
