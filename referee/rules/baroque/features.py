"""Inputs of a learned evaluation of Baroque chess: the seven kinds of pieces of both sides."""

from __future__ import annotations

from referee.rules.baroque.state import SIDE, SYMBOLS
from referee.rules.rules import FeatureImage, Features

_CELLS = tuple(range(64))
_KINDS = len(SYMBOLS) // 2
_WHITE, _BLACK = range(_KINDS), range(_KINDS, 2 * _KINDS)

FEATURES = Features(
    cells=64,
    boards=tuple((place, place, _CELLS) for place in range(len(SYMBOLS))),
    mover=(SIDE, 1),
    images=(FeatureImage(planes=(*_BLACK, *_WHITE), changes_sides=True),),
)
