"""The six symmetries of Pijersi: the board and its mirror image, each with rock, paper and scissors exchanged
cyclically.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from referee.rules.pijersi.state import BOTTOMS, PHASE, ROLES, TOPS
from referee.rules.pijersi.tables import CELL_COUNT, coordinates
from referee.rules.rules import Config, Image, States, Symmetry
from referee.rules.symmetry import bits_of, images_of

_TOP = 2 * len(ROLES) + 1
"""A symbol is the top cube (0 none, 1..4 White's, 5..8 Black's) plus `_TOP` times the role below it (0 none, 1..4)."""


def _contents(states: States, config: Config) -> npt.NDArray[np.uint8]:
    found = np.zeros((len(states), CELL_COUNT), dtype=np.uint8)
    for first, count, factor in ((TOPS, 2 * len(ROLES), 1), (BOTTOMS, len(ROLES), _TOP)):
        for place in range(count):
            found += np.uint8(factor * (place + 1)) * bits_of(states[:, first + place])[:, :CELL_COUNT]
    return found


def _rest(states: States, config: Config) -> npt.NDArray[np.int64]:
    return states[:, PHASE]


def _turned(times: int) -> tuple[int, ...]:
    """Return the symbols after `times` cyclic exchanges: rock becomes paper, paper scissors, scissors rock.

    If a role beats another, its image beats the image of the other.
    """
    roles = [0, *((role + times) % 3 + 1 for role in range(3)), 4]
    tops = [*roles, *(role + len(ROLES) for role in roles[1:])]
    return tuple(tops[symbol % _TOP] + _TOP * roles[symbol // _TOP] for symbol in range(_TOP * (len(ROLES) + 1)))


_IMAGES = images_of(
    [(x - 6, y) for x, y in map(coordinates, range(CELL_COUNT))],
    [lambda x, y: (x, y), lambda x, y: (-x, y)],
    [_turned(times) for times in range(3)],
)


def _images(config: Config) -> tuple[Image, ...]:
    return _IMAGES


SYMMETRY = Symmetry(_contents, _rest, _images)
