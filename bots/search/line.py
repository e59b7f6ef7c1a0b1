"""Which positions have stood on the board before: digests of positions, and how often one recurs in a line of play.

Works on the states of any family. Refuses to know what a repetition means.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from referee.rules.jit import jit

_SEED = np.uint64(0x9E3779B97F4A7C15)
_FACTOR = np.uint64(0xD6E8FEB86659FD93)
_HALF = np.uint64(32)


@jit
def digest(state: Any, start: int, stop: int, before: Any) -> Any:
    """A digest (uint64) of `state[start:stop]` on top of `before`, itself a digest or 0."""
    mixed = before ^ _SEED
    for i in range(start, stop):
        mixed = (mixed ^ np.uint64(state[i])) * _FACTOR
        mixed ^= mixed >> _HALF
    return mixed


@jit
def recurrence(line: Any, last: int) -> tuple[int, int]:
    """How often entry `last` of the digests `line` has occurred.

    (occurrences up to and including it, plies since the one before; 0 = none)
    """
    times, gap = 1, 0
    for back in range(2, last + 1, 2):
        if line[last - back] == line[last]:
            times += 1
            if gap == 0:
                gap = back
    return times, gap
