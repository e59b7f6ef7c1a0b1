"""The symmetries of the board: itself and its mirror image."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from referee.rules.rules import Config, Image, States, Symmetry
from referee.rules.symmetry import images_of

from .state import TURN, WIDTH


def _contents(states: States, config: Config) -> npt.NDArray[np.uint8]:
    return states[:, :12].astype(np.uint8)


def _rest(states: States, config: Config) -> npt.NDArray[np.int64]:
    return states[:, TURN] + 4 * config[WIDTH]


def _images(config: Config) -> tuple[Image, ...]:
    return _images_of(int(config[WIDTH]))


@cache
def _images_of(width: int) -> tuple[Image, ...]:
    def mirror(x: int, y: int) -> tuple[int, int]:
        return (width - 1 - x if x < width else x), y

    return images_of([(square % 4, square // 4) for square in range(12)], [lambda x, y: (x, y), mirror], [range(5)])


SYMMETRY = Symmetry(_contents, _rest, _images)
