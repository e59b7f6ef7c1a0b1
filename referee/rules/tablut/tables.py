"""The board of Tablut: cells and names, bases, throne, border, the 18 lines of sight and tables of moves along them.

Cell number = file * 9 + rank, so that ascending numbers are ascending names. The 18 lines are the ranks 1..9 (numbers
0..8, bit = file) and the files a..i (numbers 9..17, bit = rank): a line is 9 bits.

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

from typing import Any

import numpy as np
import numpy.typing as npt

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
    """Return a set of cells as the bits of the 18 lines."""
    lines = [0] * LINES
    for cell in cells:
        file, rank = divmod(cell, SIZE)
        lines[rank] |= 1 << file
        lines[SIZE + file] |= 1 << rank
    return lines


def lines_through(cell: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the rank and the file of a cell as (line, bit number)."""
    file, rank = divmod(cell, SIZE)
    return (rank, file), (SIZE + file, rank)


_Table = npt.NDArray[Any]


def _table(values: object, dtype: type[np.generic] = np.int64) -> _Table:
    table = np.array(values, dtype=dtype)
    table.setflags(write=False)
    return table


def _sight(place: int, blockers: int) -> int:
    """Return the places that a piece on `place` sees along a line in both directions, including the first blocker of
    each.
    """
    seen = 0
    for step in (1, -1):
        at = place + step
        while 0 <= at < SIZE:
            seen |= 1 << at
            if blockers >> at & 1:
                break
            at += step
    return seen


def _slides() -> _Table:
    """Return `SLIDES`, computed for all contents of a line at once.

    A loop would take as long as the rest of this module.
    """
    bits = np.arange(FULL + 1)
    kinds = np.arange(3**SIZE)[:, None] // 3 ** np.arange(SIZE) % 3  # 0 empty, 1 own, 2 blocked
    taken = (kinds > 0) @ (1 << np.arange(SIZE))
    seen = SIGHT.reshape(SIZE, FULL + 1)
    halves = []
    for skip in (0, 1 << SIZE // 2):
        stops = seen & ~(bits | skip)
        count = np.sum([stops >> place & 1 for place in range(SIZE)], axis=0)  # [place, taken]
        halves.append(np.where(kinds == 1, count.T[taken], 0).sum(axis=1))
    return _table(np.concatenate(halves), np.uint8)


def _own_bases() -> list[int]:
    """Return `OWN_BASE`."""
    bases = [0] * (LINES * SIZE)
    for group in BASE_GROUPS:
        lines = on_lines(group)
        for cell in group:
            for line, place in lines_through(cell):
                bases[line * SIZE + place] = lines[line]
    return bases


SIGHT = _table([_sight(place, bits) for place in range(SIZE) for bits in range(FULL + 1)], np.int16)
"""[place * 512 + blockers]: the bits a piece sees along a line, first blockers included."""

TERNARY = _table(
    [sum(3**place for place in range(SIZE) if bits >> place & 1) for bits in range(FULL + 1)],
    np.int16,
)
"""[bits]: the bits read in base 3."""

SLIDES = _slides()
"""[TERNARY[own] + 2 * TERNARY[blocked]]: the number of moves of the pieces `own` along a line. The second 19,683
entries are for lines whose empty middle cell may be passed, but not entered.
"""

PASSING = 3**SIZE
"""First index of the second half of `SLIDES`."""


def _leads() -> _Table:
    """Return `LEADS`."""
    every = np.arange(PASSING)
    digits = every[:, None] // 3 ** np.arange(SIZE) % 3
    swapped = (-digits % 3) @ 3 ** np.arange(SIZE)
    slides, middle = SLIDES.astype(np.int64), 3 ** (SIZE // 2)
    shut = np.where(digits[:, SIZE // 2] == 0, 2 * middle, 0)  # treat the empty middle as blocked
    differences = [
        slides[own] - slides[other] for own, other in ((every, swapped), (every + PASSING, swapped + PASSING))
    ]
    return _table(np.concatenate([*differences, slides[every + shut] - slides[swapped + shut]]), np.int8)


LEADS = _leads()
"""[TERNARY[own] + 2 * TERNARY[other]]: the number of moves of `own` along a line minus that of the `other` pieces on
it. The second 19,683 entries are for lines whose empty middle cell may be passed, the third for those where it is
closed.
"""

STEPS = _table(
    [
        sum(1 << at for at in range(SIZE) if limit == 0 or abs(at - place) <= limit)
        for limit in range(SIZE)
        for place in range(SIZE)
    ]
)
"""[limit * 9 + place]: the bits at most `limit` away (0: no limit)."""

BASES = _table(on_lines(BASE_CELLS))
"""[line]: the bits that are base cells."""

BASE_FLANKS = _table(on_lines(BASE_CELLS - BASE_MIDDLES))
"""[line]: the bits that are base cells, except those in the middle of a border."""

BARRED = _table(
    [
        on_lines(frozenset().union(*(group for number, group in enumerate(BASE_GROUPS) if live >> number & 1)))
        for live in range(16)
    ]
).reshape(-1)
"""[live * 18 + line]: the bits that are cells of the bases in `live` (1 west, 2 south, 4 north, 8 east)."""

OWN_BASE = _table(_own_bases())
"""[line * 9 + place]: the bits of the line in the same base as that cell; 0 for a cell outside bases."""

GOALS = _table([on_lines(BORDER_CELLS), on_lines(BORDER_CELLS - BASE_CELLS)]).reshape(-1)
"""[goal option * 18 + line]: the bits that win for the king."""
