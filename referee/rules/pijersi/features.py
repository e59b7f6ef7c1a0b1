"""What a learned evaluation of Pijersi looks at: the top cubes of either side and the roles below them."""

from __future__ import annotations

from referee.rules.pijersi.state import BOTTOMS, PHASE, ROLES, TOPS
from referee.rules.pijersi.tables import CELL_COUNT
from referee.rules.rules import Features

_CELLS = tuple(range(CELL_COUNT))

FEATURES = Features(
    cells=CELL_COUNT,
    boards=(
        *((TOPS + place, place, _CELLS) for place in range(2 * len(ROLES))),
        *((BOTTOMS + place, 2 * len(ROLES) + place, _CELLS) for place in range(len(ROLES))),
    ),
    mover=(PHASE, 1),
)
