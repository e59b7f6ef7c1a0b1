"""Inputs of a learned evaluation of Lines of Action: the pieces of both sides on the 8x8 board."""

from __future__ import annotations

from referee.rules.loa.state import FIRST, SECOND, SIDE, SIZE
from referee.rules.rules import FeatureImage, Features

_CELLS = tuple(range(64))


FEATURES = Features(
    cells=64,
    boards=((FIRST, 0, _CELLS), (SECOND, 1, _CELLS)),
    mover=(SIDE, 1),
    fits=lambda config: int(config[SIZE]) == 8,
    images=(FeatureImage(planes=(1, 0), changes_sides=True),),
)
