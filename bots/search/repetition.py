"""Repetition detection inside compiled searches: digests of positions, and how often one recurs in a line of play.

Works on the states of any family. The rules count repetitions by `referee.rules.position.History`; a compiled search
cannot call Python objects in its inner loop and keeps digests in an array.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from referee.rules.jit import jit

MAX_GAME_PLIES = 4096
"""Longest game, in plies, all of whose positions are compared for repetitions."""
_START: Any = np.int64(0)
_FACTOR = np.uint64(0xD6E8FEB86659FD93)
"""An odd number of mixed bits: a product with it differs in the high half, which is folded into the low one."""
_HALF = np.uint64(32)
_FACTORS = np.random.default_rng(1).integers(0, 1 << 63, 256, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
"""Odd numbers, one for each element of a state: elements are mixed independently, so the processor can overlap them.

The seed is fixed: compiled code in the cache contains these numbers.
"""


@jit
def digest(state: Any, start: int, stop: int, before: Any) -> Any:
    """Return a digest (uint64) of `state[start:stop]` combined with `before`, itself a digest or 0."""
    total = before
    for i in range(start, stop):
        mixed = np.uint64(state[i]) * _FACTOR
        total += (mixed ^ (mixed >> _HALF)) * _FACTORS[i & 255]
    # A sum of products has weak low bits, and the table is indexed by these.
    total = (total ^ (total >> _HALF)) * _FACTOR
    return total ^ (total >> _HALF)


@jit
def key_of(state: Any, key_size: int) -> Any:
    """Return the digest of a position, as searches store it in `game_keys`; `key_size` is the kernel's `KEY_SIZE`."""
    return digest(state, _START, key_size, np.uint64(0))


@jit
def repetition_count(game_keys: Any, last: int) -> tuple[int, int]:
    """Return how often entry `last` of the digests `game_keys` has occurred, itself included, and the number of
    plies since its previous occurrence (0 if there is none).
    """
    times, gap = 1, 0
    # The side to move belongs to a position, so it can recur only after an even number of plies.
    for back in range(2, last + 1, 2):
        if game_keys[np.uint64(last - back)] == game_keys[last]:
            times += 1
            if gap == 0:
                gap = back
    return times, gap
