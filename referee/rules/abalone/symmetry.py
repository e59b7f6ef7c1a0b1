"""The twelve symmetries of the Abalone board: rotations by 60 degrees and their mirror images."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from referee.rules.abalone.state import BLACK, SIDE, WHITE
from referee.rules.abalone.tables import PLACES
from referee.rules.rules import Config, Image, States, Symmetry
from referee.rules.symmetry import bits_of, images_of

_CELLS = list(PLACES)


def _contents(states: States, config: Config) -> npt.NDArray[np.uint8]:
    return bits_of(states[:, BLACK])[:, _CELLS] + 2 * bits_of(states[:, WHITE])[:, _CELLS]


def _rest(states: States, config: Config) -> npt.NDArray[np.int64]:
    return states[:, SIDE]


def _turn(times: int, is_mirrored: bool) -> Callable[[int, int], tuple[int, int]]:
    """Return a map of (row, digit), both counted from the centre: an optional reflection, then `times` 60-degree turns.

    A turn takes E to NE and NW to W; the reflection exchanges NW and E.
    """

    def move(row: int, digit: int) -> tuple[int, int]:
        if is_mirrored:
            row, digit = digit, row
        for _ in range(times):
            row, digit = digit, digit - row
        return row, digit

    return move


_IMAGES = images_of(
    [(row - 5, digit - 5) for row, digit in PLACES.values()],
    [_turn(times, is_mirrored) for times in range(6) for is_mirrored in (False, True)],
    [(0, 1, 2)],
)


def _images(config: Config) -> tuple[Image, ...]:
    return _IMAGES


SYMMETRY = Symmetry(_contents, _rest, _images)
