"""One call that follows a whole game over a family's kernel. Loaded once per family (`referee.rules.per_family`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from referee.rules.jit import jit
from referee.rules.per_family import kernel_for
from referee.rules.rules import Config

F = TypeVar("F", bound=Callable[..., Any])

_kernel, _folder = kernel_for(__name__)
legal, play, result = _kernel.legal, _kernel.play, _kernel.result
KEY_SIZE: Any = np.int64(_kernel.KEY_SIZE)
NOUGHT: Any = np.int64(0)
ONCE: Any = np.int64(1)

_SEED = np.uint64(0x9E3779B97F4A7C15)
_FACTOR = np.uint64(0xD6E8FEB86659FD93)
_HALF = np.uint64(32)


def compiled(function: F) -> F:
    """`jit`, with a cache that a change of the kernel makes stale."""
    return jit(function, also=(_folder,))


@compiled
def digest(state: Any) -> Any:
    """A digest (uint64) of what repetition compares."""
    mixed = _SEED
    for i in range(KEY_SIZE):
        mixed = (mixed ^ np.uint64(state[i])) * _FACTOR
        mixed ^= mixed >> _HALF
    return mixed


@compiled
def recurrence(states: Any, digests: Any, last: int) -> tuple[int, int]:
    """(occurrences of the last position up to and including it, plies since the one before; 0 = none)."""
    times, gap = 1, 0
    for back in range(1, last + 1):
        at = last - back
        if digests[at] == digests[last]:
            is_same = True
            for i in range(KEY_SIZE):
                is_same = is_same and states[at, i] == states[last, i]
            if is_same:
                times += 1
                if gap == 0:
                    gap = back
    return times, gap


@compiled
def is_among(moves: npt.NDArray[np.int64], count: int, move: int) -> bool:
    """Whether a move is among the first `count` of `moves`, which ascend."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if moves[middle] < move:
            low = middle + 1
        else:
            high = middle
    return low < count and moves[low] == move


@compiled
def follow(
    states: Any, config: Config, codes: npt.NDArray[np.int64], moves: npt.NDArray[np.int64], digests: Any
) -> tuple[int, int]:
    """Play `codes` from `states[0]`, every position into `states`: plies played, and how the game stands then.

    Stops before a move that is not legal and at the end of the game.
    """
    digests[0] = digest(states[0])
    found = result(states[0], config, ONCE, NOUGHT)
    for ply in range(codes.size):
        if found != 0 or not is_among(moves, legal(states[ply], config, moves), codes[ply]):
            return ply, found
        play(states[ply], config, codes[ply], states[ply + 1])
        digests[ply + 1] = digest(states[ply + 1])
        times, gap = recurrence(states, digests, ply + 1)
        found = result(states[ply + 1], config, times, gap)
    return codes.size, found
