"""Inputs of a learned evaluation of Pijersi: the top cubes of both sides and the roles of the cubes below.

The game is invariant under a cyclic exchange of rock, paper and scissors, and under a change of sides.
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
