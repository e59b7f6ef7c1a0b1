"""Compiled searches over the kernel of a family.

A search is one source file that is loaded once per family, as `bots.search.<search>_for_<family>`, with the kernel's
functions as its globals: compiled code cannot take functions as arguments and still be cached on disk. Refuses to know
pipes, clocks and texts.
"""

from __future__ import annotations

from types import ModuleType

import numpy as np
import numpy.typing as npt

from referee.rules.per_family import loaded
from referee.rules.position import Position


def search(name: str, family: str) -> ModuleType:
    """The search `name` (a file of this folder) over the kernel of `family`. Raises UnknownNameError."""
    return loaded(__name__, name, family)


def earlier_keys(position: Position, found: ModuleType) -> npt.NDArray[np.uint64]:
    """What a search keeps of the game before `position`: digests of its positions, as many as there is room for."""
    keys: list[int] = []
    one = position.previous
    while one is not None and len(keys) < found.MAX_LINE:
        keys.append(int(found.key_of(one.state)))
        one = one.previous
    return np.array(keys[::-1], dtype=np.uint64)
