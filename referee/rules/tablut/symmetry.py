"""The eight symmetries of the Tablut board: bases, throne and goals are the same on all four sides."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from referee.rules.rules import Config, Image, States, Symmetry
from referee.rules.symmetry import SQUARE, images_of
from referee.rules.tablut.state import KING, SIDE
from referee.rules.tablut.tables import CELLS, LINES, SIZE

_FILES, _PLACES = range(SIZE, LINES), np.arange(SIZE)


def _contents(states: States, config: Config) -> npt.NDArray[np.uint8]:
    """Return 0 for an empty cell, 1 for an attacker, 2 for a defender, 3 for the king."""
    lines = [states[:, [start + file for file in _FILES]] for start in (0, LINES)]
    attackers, defenders = (
        (side_lines[:, :, np.newaxis] >> _PLACES & 1).reshape(len(states), CELLS).astype(np.uint8)
        for side_lines in lines
    )
    king = states[:, KING, np.newaxis] == np.arange(CELLS)
    contents: npt.NDArray[np.uint8] = attackers + 2 * defenders + king
    return contents


def _rest(states: States, config: Config) -> npt.NDArray[np.int64]:
    return states[:, SIDE].astype(np.int64)


_IMAGES = images_of(
    [(2 * (cell // SIZE) - SIZE + 1, 2 * (cell % SIZE) - SIZE + 1) for cell in range(CELLS)], SQUARE, [(0, 1, 2, 3)]
)


def _images(config: Config) -> tuple[Image, ...]:
    return _IMAGES


SYMMETRY = Symmetry(_contents, _rest, _images)
