"""Inputs of a learned evaluation of Abalone: the marbles of both sides and the number that each side has lost."""

from __future__ import annotations

from referee.rules.abalone.state import BLACK, BY_BLACK, BY_WHITE, SIDE, WHITE
from referee.rules.abalone.tables import PLACES
from referee.rules.rules import FeatureImage, Features

_BITS = tuple(PLACES)
_CELLS = tuple(_BITS.index(bit) if bit in _BITS else -1 for bit in range(max(_BITS) + 1))

FEATURES = Features(
    cells=len(_BITS),
    boards=((BLACK, 0, _CELLS), (WHITE, 1, _CELLS)),
    counts=((BY_BLACK, 7), (BY_WHITE, 7)),
    mover=(SIDE, 1),
    images=(FeatureImage(planes=(1, 0), counts=(1, 0), changes_sides=True),),
)
