"""Inputs of a learned evaluation of Baroque chess: the seven kinds of pieces of both sides."""

from __future__ import annotations

from referee.rules.baroque.state import SIDE, SYMBOLS
from referee.rules.rules import FeatureImage, Features

_CELLS = tuple(range(64))
_KINDS = len(SYMBOLS) // 2
_WHITE, _BLACK = range(_KINDS), range(_KINDS, 2 * _KINDS)
"""The bitboards of the kinds of pieces: their elements in a state, and their planes in the evaluation."""

FEATURES = Features(
    cells=64,
    boards=tuple((element, element, _CELLS) for element in (*_WHITE, *_BLACK)),
    mover=(SIDE, 1),
    # No rule depends on the colour, so a position with its colours exchanged is as good for the other side.
    images=(FeatureImage(planes=(*_BLACK, *_WHITE), changes_sides=True),),
)
