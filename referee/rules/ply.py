"""One ply of a game in one call of compiled code; `referee.rules.per_family` loads one copy of this file per family.

Each call from Python costs as much as listing the moves of a position, so the referee makes one instead of three.
"""

from __future__ import annotations

from typing import Any

from referee.rules.per_family import kernel_for

_kernel, compiled = kernel_for(__name__)
legal, play, result = _kernel.legal, _kernel.play, _kernel.result

ILLEGAL = -1


@compiled
def advance(state: Any, config: Any, move: int, moves: Any, out: Any) -> int:
    """Write the state after a move to `out` and return its result code if it occurs for the first time.

    Return ILLEGAL for a move that is not legal. `moves` is a buffer of MAX_MOVES codes.
    """
    count = legal(state, config, moves)
    low, high = 0, count
    # Kernels list moves in ascending order.
    while low < high:
        middle = (low + high) // 2
        if moves[middle] < move:
            low = middle + 1
        else:
            high = middle
    if low == count or moves[low] != move:
        return ILLEGAL
    play(state, config, move, out)
    return result(out, config, 1, 0)
