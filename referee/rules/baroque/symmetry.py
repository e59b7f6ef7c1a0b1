"""The eight symmetries of the square: no rule of Baroque chess depends on a direction."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from referee.rules.baroque.state import SIDE, SYMBOLS
from referee.rules.rules import Config, Image, States, Symmetry
from referee.rules.symmetry import SQUARE, bits_of, images_of


def _contents(states: States, config: Config) -> npt.NDArray[np.uint8]:
    found = np.zeros((len(states), 64), dtype=np.uint8)
    for place in range(len(SYMBOLS)):
        found += np.uint8(place + 1) * bits_of(states[:, place])
    return found


def _rest(states: States, config: Config) -> npt.NDArray[np.int64]:
    return states[:, SIDE].astype(np.int64)


_IMAGES = images_of(
    [(2 * (square % 8) - 7, 2 * (square // 8) - 7) for square in range(64)], SQUARE, [tuple(range(len(SYMBOLS) + 1))]
)


def _images(config: Config) -> tuple[Image, ...]:
    return _IMAGES


SYMMETRY = Symmetry(_contents, _rest, _images)
