"""The symmetries of the board: the identity and the left-right reflection."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from referee.rules.rules import Config, Image, States, Symmetry
from referee.rules.symmetry import images_of

from .state import TURN


def _contents(states: States, config: Config) -> npt.NDArray[np.uint8]:
    return states[:, :9].astype(np.uint8)


def _rest(states: States, config: Config) -> npt.NDArray[np.int64]:
    return states[:, TURN].astype(np.int64)


@cache
def _all() -> tuple[Image, ...]:
    places = [(square % 3, square // 3) for square in range(9)]
    return images_of(places, [lambda x, y: (x, y), lambda x, y: (2 - x, y)], [range(3)])


def _images(config: Config) -> tuple[Image, ...]:
    return _all()


SYMMETRY = Symmetry(_contents, _rest, _images)
