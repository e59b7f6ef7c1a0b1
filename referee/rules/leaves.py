"""The recursion of perft over a family's kernel; `referee.rules.per_family` loads one copy of this file per family."""

from __future__ import annotations

from typing import Any

import numpy as np

from referee.rules.jit import jit
from referee.rules.per_family import kernel_for

_kernel, compiled = kernel_for(__name__)
legal, play, count = _kernel.legal, _kernel.play, _kernel.count
MAX_MOVES = _kernel.MAX_MOVES


def _leaves(state: Any, config: Any, depth: int) -> int:
    """Return the number of leaves at exactly `depth` >= 1 plies below a state."""
    if depth == 1:
        return count(state, config)
    moves, after = np.empty(MAX_MOVES, dtype=np.int64), np.empty_like(state)
    total = 0
    for place in range(legal(state, config, moves)):
        play(state, config, moves[place], after)
        total += leaves(after, config, depth - 1)
    return total


leaves = jit(_leaves, also=(compiled.folder,))
