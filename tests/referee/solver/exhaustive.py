"""Plain search of all lines of play over one family's kernel, the referee of the solver in tests.

It has no table and no numbers, and counts repetitions along every line.
"""

from typing import Any

import numpy as np

from referee.rules.jit import jit
from referee.rules.per_family import kernel_for

_kernel, compiled = kernel_for(__name__)
legal, play, result = _kernel.legal, _kernel.play, _kernel.result
MAX_MOVES: Any = np.int64(_kernel.MAX_MOVES)
KEY_SIZE: Any = np.int64(_kernel.KEY_SIZE)


def _wins(states: Any, moves: Any, config: Any, ply: int, rest: int, is_attacker: bool, attacker: int) -> bool:
    """Return whether `attacker` wins within `rest` plies of `states[ply]`, the end of a line of play."""
    times, gap = 1, 0
    for before in range(ply - 1, -1, -1):
        is_same = True
        for i in range(KEY_SIZE):
            if states[before, i] != states[ply, i]:
                is_same = False
        if is_same:
            times += 1
            if gap == 0:
                gap = ply - before
    code = result(states[ply], config, times, gap)
    if code != 0:
        return code % 4 == attacker + 1
    if rest == 0:
        return False
    for place in range(legal(states[ply], config, moves[ply])):
        play(states[ply], config, moves[ply, place], states[ply + 1])
        if wins(states, moves, config, ply + 1, rest - 1, not is_attacker, attacker) == is_attacker:
            return is_attacker
    return not is_attacker


wins = jit(_wins, also=(compiled.folder,))
