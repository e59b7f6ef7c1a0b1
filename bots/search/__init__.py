"""Compiled searches over the kernel of a family.

A search is one source file that is loaded once per family, as `bots.search.<search>_for_<family>`, with the kernel's
functions as its globals: compiled code cannot take functions as arguments and still be cached on disk. A search does no
IO and reads no clock.
"""

from __future__ import annotations

from types import ModuleType

import numpy as np
import numpy.typing as npt

from bots.search.repetition import MAX_GAME_PLIES, key_of
from referee.rules.per_family import loaded
from referee.rules.position import Position


def search(name: str, family: str) -> ModuleType:
    """Load the search `name` (a file of this folder) over the kernel of `family`. Raises UnknownNameError."""
    return loaded(__name__, name, family)


def earlier_keys(position: Position) -> npt.NDArray[np.uint64]:
    """Return the digests of the positions before `position`, oldest first, at most MAX_GAME_PLIES of them."""
    keys: list[int] = []
    key_size = position.ruleset.rules.kernel.KEY_SIZE
    earlier = position.previous
    while earlier is not None and len(keys) < MAX_GAME_PLIES:
        keys.append(int(key_of(earlier.state, key_size)))
        earlier = earlier.previous
    return np.array(keys[::-1], dtype=np.uint64)
