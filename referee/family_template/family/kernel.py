"""The compiled functions of the family; `referee.rules.kernel_protocol.Kernel` documents each of them.

They are plain functions over arrays, without classes and Python objects. A result is 4 * reason + winner (1 first,
2 second, 3 draw), with reasons in the order of `rules.REASONS`; it is 0 while the game is undecided.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from referee.rules.jit import jit, random_below

from .state import KEY_SIZE, MAX_PLIES, PLIES, STATE_SIZE, TURN

__all__ = [
    "DTYPE",
    "KEY_SIZE",
    "MAX_MOVES",
    "STATE_SIZE",
    "count",
    "evaluate",
    "legal",
    "play",
    "playout",
    "result",
]

DTYPE, MAX_MOVES = np.int64, 9


@jit
def legal(state: Any, config: Any, moves: Any) -> int:
    own = state[TURN] + 1
    for i in range(3):
        if state[6 + i] == 1 or state[i] == 2:  # a pawn has arrived
            return 0
    k = 0
    for i in range(9):
        if state[i] != own:
            continue
        f, r = i % 3, i // 3 + 3 - 2 * own
        for d in range(-1, 2):
            if r < 0 or r > 2 or f + d < 0 or f + d > 2:
                continue
            held = state[3 * r + f + d]
            if (held == 0 and d == 0) or (held == 3 - own and d != 0):
                moves[k] = 9 * i + 3 * r + f + d
                k += 1
    return k


@jit
def count(state: Any, config: Any) -> int:
    return legal(state, config, np.empty(MAX_MOVES, dtype=np.int64))


@jit
def play(state: Any, config: Any, move: int, out: Any) -> None:
    out[:] = state
    out[move % 9], out[move // 9] = state[move // 9], 0
    out[TURN], out[PLIES] = 1 - state[TURN], state[PLIES] + 1


@jit
def result(state: Any, config: Any, occurrences: int, gap: int) -> int:
    for i in range(3):
        if state[6 + i] == 1:
            return 1
        if state[i] == 2:
            return 2
    if count(state, config) == 0:
        return 4 + 2 - int(state[TURN])
    if config[MAX_PLIES] > 0 and state[PLIES] >= config[MAX_PLIES]:
        return 8 + 3
    return 0


@jit
def playout(state: Any, config: Any, rng: Any, max_plies: int) -> tuple[int, int]:
    now, after = state.copy(), np.empty_like(state)
    moves = np.empty(MAX_MOVES, dtype=np.int64)
    for plies in range(max_plies):
        code = result(now, config, 1, 0)
        if code != 0:
            return code, plies
        play(now, config, moves[random_below(rng, legal(now, config, moves))], after)
        now, after = after, now
    return result(now, config, 1, 0), max_plies


@jit
def evaluate(state: Any, config: Any) -> int:
    """Return a static score from the view of the side to move, by the number and the advance of the pawns."""
    score = 0
    for i in range(9):
        if state[i] == 1:
            score += 100 + 10 * (i // 3)
        elif state[i] == 2:
            score -= 100 + 10 * (2 - i // 3)
    return -score if state[TURN] == 1 else score
