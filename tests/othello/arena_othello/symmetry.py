"""The eight symmetries of the board."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from referee.rules.rules import Config, Image, States, Symmetry
from referee.rules.symmetry import images_of

from .state import TURN


def _contents(states: States, config: Config) -> npt.NDArray[np.uint8]:
    return states[:, :64].astype(np.uint8)


def _rest(states: States, config: Config) -> npt.NDArray[np.int64]:
    return states[:, TURN].astype(np.int64)


@cache
def _all() -> tuple[Image, ...]:
    turns = [
        lambda x, y: (x, y),
        lambda x, y: (7 - x, 7 - y),
        lambda x, y: (y, x),
        lambda x, y: (7 - y, 7 - x),
        lambda x, y: (7 - x, y),
        lambda x, y: (x, 7 - y),
        lambda x, y: (y, 7 - x),
        lambda x, y: (7 - y, x),
    ]
    return images_of([(square % 8, square // 8) for square in range(64)], turns, [range(3)])


def _images(config: Config) -> tuple[Image, ...]:
    return _all()


SYMMETRY = Symmetry(_contents, _rest, _images)
