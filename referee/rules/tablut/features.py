"""What a learned evaluation of Tablut looks at: attackers, defenders and the king."""

from __future__ import annotations

from referee.rules.rules import Features
from referee.rules.tablut.state import KING, SIDE
from referee.rules.tablut.tables import CELLS, LINES, SIZE

FEATURES = Features(
    cells=CELLS,
    boards=tuple(
        (start + rank, plane, tuple(file * SIZE + rank for file in range(SIZE)))
        for plane, start in enumerate((0, LINES))
        for rank in range(SIZE)
    ),
    places=((KING, 2, 0),),
    mover=(SIDE, 1),
)
