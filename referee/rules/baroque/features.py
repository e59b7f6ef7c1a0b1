"""What a learned evaluation of Baroque chess looks at: the seven kinds of pieces of either side."""

from __future__ import annotations

from referee.rules.baroque.state import SIDE, SYMBOLS
from referee.rules.rules import Features

_CELLS = tuple(range(64))

FEATURES = Features(
    cells=64,
    boards=tuple((place, place, _CELLS) for place in range(len(SYMBOLS))),
    mover=(SIDE, 1),
)
