"""The symmetries of a board of LOA: those of the square that keep the hole, if there is one, in place."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from referee.rules.loa.state import BAN, FIRST, HOLE, NEUTRAL, SECOND, SIDE, SIZE, squares
from referee.rules.rules import Config, Image, States, Symmetry
from referee.rules.symmetry import SQUARE, bits_of, images_of

_NEUTRAL, _BANNED = 3, 4
"""Symbols in addition to 1 (Black) and 2 (White). A square that is banned to the neutral piece is empty."""


def _contents(states: States, config: Config) -> npt.NDArray[np.uint8]:
    size = int(config[SIZE])
    places = np.array(squares(size))
    contents = np.zeros((len(states), len(places)), dtype=np.uint8)
    for symbol, first in ((1, FIRST), (2, SECOND)):
        words = [bits_of(states[:, first + word]) for word in range(1 if size == 8 else 3)]
        board = np.concatenate(words, axis=1)
        contents += np.uint8(symbol) * (board if size == 8 else board[:, places])
    for symbol, column in ((_NEUTRAL, NEUTRAL), (_BANNED, BAN)):
        contents += np.uint8(symbol) * (states[:, column].astype(np.int64)[:, np.newaxis] == places + 1)
    return contents


def _rest(states: States, config: Config) -> npt.NDArray[np.int64]:
    board = int(config[SIZE]) * 1000 + int(config[HOLE]) + 1
    return states[:, SIDE].astype(np.int64) + 2 * board


def _images(config: Config) -> tuple[Image, ...]:
    return _images_of(int(config[SIZE]), int(config[HOLE]))


@cache
def _images_of(size: int, hole: int) -> tuple[Image, ...]:
    places = [(2 * (square % 16) - size + 1, 2 * (square // 16) - size + 1) for square in squares(size)]
    found = images_of(places, SQUARE, [(0, 1, 2, _NEUTRAL, _BANNED)])
    if hole < 0:
        return found
    middle = squares(size).index(hole)
    return tuple(image for image in found if image.cells[middle] == middle)


SYMMETRY = Symmetry(_contents, _rest, _images)
