"""The compiled functions of Othello."""

from __future__ import annotations

from typing import Any

import numpy as np

from referee.rules.jit import jit, random_below

from .state import KEY_SIZE, PASS, STATE_SIZE, TURN

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

DTYPE, MAX_MOVES = np.int64, 60


@jit
def turned(state: Any, own: int, i: int, f: int, r: int) -> int:
    """Return how many discs a disc of `own` on square `i` turns in the direction of file `f` and row `r`."""
    file, row, found = i % 8 + f, i // 8 + r, 0
    while 0 <= file < 8 and 0 <= row < 8 and state[8 * row + file] == 3 - own:
        file, row, found = file + f, row + r, found + 1
    return found if 0 <= file < 8 and 0 <= row < 8 and state[8 * row + file] == own else 0


@jit
def moves_of(state: Any, own: int, moves: Any) -> int:
    """Write the squares on which a disc of `own` turns others; return their number."""
    k = 0
    for i in range(64):
        total = 0
        if state[i] == 0:
            for f in range(-1, 2):
                for r in range(-1, 2):
                    if f != 0 or r != 0:
                        total += turned(state, own, i, f, r)
        if total > 0:
            moves[k] = i
            k += 1
    return k


@jit
def legal(state: Any, config: Any, moves: Any) -> int:
    own = state[TURN] + 1
    k = moves_of(state, own, moves)
    if k == 0 and moves_of(state, 3 - own, moves) > 0:
        moves[0] = PASS
        return 1
    return k


@jit
def count(state: Any, config: Any) -> int:
    return legal(state, config, np.empty(MAX_MOVES, dtype=np.int64))


@jit
def play(state: Any, config: Any, move: int, out: Any) -> None:
    out[:] = state
    own = state[TURN] + 1
    out[TURN] = 2 - own
    if move == PASS:
        return
    out[move] = own
    for f in range(-1, 2):
        for r in range(-1, 2):
            if f != 0 or r != 0:
                for n in range(turned(state, own, move, f, r)):
                    out[move + (n + 1) * (8 * r + f)] = own


@jit
def difference(state: Any) -> int:
    """Return the number of Black's discs minus White's."""
    found = 0
    for i in range(64):
        if state[i] != 0:
            found += 3 - 2 * state[i]
    return found


@jit
def result(state: Any, config: Any, occurrences: int, gap: int) -> int:
    if count(state, config) > 0:
        return 0
    more = difference(state)
    return 3 if more == 0 else 1 if more > 0 else 2


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
    """Return a static score: moves, corners, and a little for discs."""
    moves = np.empty(MAX_MOVES, dtype=np.int64)
    score = 10 * (moves_of(state, 1, moves) - moves_of(state, 2, moves)) + difference(state)
    for i in (0, 7, 56, 63):
        if state[i] != 0:
            score += 100 * (3 - 2 * state[i])
    return -score if state[TURN] == 1 else score
