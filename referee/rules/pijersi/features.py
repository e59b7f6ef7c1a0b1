"""What a learned evaluation of Pijersi looks at: the top cubes of either side and the roles below them.

The game is the same when rock, paper and scissors change in a ring, and seen from the other side of the board.
"""

from __future__ import annotations

from referee.rules.pijersi.state import BOTTOMS, PHASE, ROLES, TOPS
from referee.rules.pijersi.tables import CELL_COUNT
from referee.rules.rules import FeatureImage, Features

_CELLS = tuple(range(CELL_COUNT))
_WHITE, _BLACK, _BELOW = (tuple(range(first, first + len(ROLES))) for first in (0, len(ROLES), 2 * len(ROLES)))


def _beaten(planes: tuple[int, ...]) -> tuple[int, ...]:
    rock, paper, scissors, wise = planes
    return paper, scissors, rock, wise


FEATURES = Features(
    cells=CELL_COUNT,
    boards=(
        *((TOPS + place, place, _CELLS) for place in range(2 * len(ROLES))),
        *((BOTTOMS + place, 2 * len(ROLES) + place, _CELLS) for place in range(len(ROLES))),
    ),
    mover=(PHASE, 1),
    images=(
        FeatureImage(planes=(*_beaten(_WHITE), *_beaten(_BLACK), *_beaten(_BELOW))),
        FeatureImage(planes=(*_BLACK, *_WHITE, *_BELOW), cells=_CELLS[::-1], changes_sides=True),
    ),
)
