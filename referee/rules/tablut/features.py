"""Inputs of a learned evaluation of Tablut: attackers, defenders and the king, and all of them relative to the king."""

from __future__ import annotations

from referee.rules.rules import Features
from referee.rules.tablut.state import KING, SIDE
from referee.rules.tablut.tables import CELLS, LINES, SIZE

SPAN = 2 * SIZE - 1
"""Number of possible differences between two files."""


def _way(start: int, end: int) -> int:
    (x, y), (at_x, at_y) = divmod(start, SIZE), divmod(end, SIZE)
    return (at_x - x + SIZE - 1) * SPAN + at_y - y + SIZE - 1


FEATURES = Features(
    cells=CELLS,
    boards=tuple(
        (start + rank, plane, tuple(file * SIZE + rank for file in range(SIZE)))
        for plane, start in enumerate((0, LINES))
        for rank in range(SIZE)
    ),
    places=((KING, 2, 0),),
    mover=(SIDE, 1),
    seen_from=KING,
    directions=tuple(tuple(_way(start, end) for end in range(CELLS)) for start in range(CELLS)),
)
