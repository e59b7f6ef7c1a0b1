"""The compiled functions of hexapawn; `state` describes states, and `tables` numbers the squares.

Letters: s a side, i a square, f and r its file and rank, t the contents of a square.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from referee.rules.jit import jit, random_below

from .state import (
    GIVEN,
    GIVING,
    HAS_TOWERS,
    KEY_SIZE,
    MAX_PLIES,
    NO_MOVES,
    PASS,
    PLIES,
    REPETITION,
    STATE_SIZE,
    TURN,
    WIDTH,
)

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

DTYPE, MAX_MOVES = np.int64, 16


@jit
def steps(state: Any, config: Any, s: int, moves: Any) -> int:
    """Write the moves of side `s`; return their number."""
    k = 0
    for i in range(12):
        if state[i] == 0 or (state[i] - 1) % 2 != s:
            continue
        f, r = i % 4, i // 4 + 1 - 2 * s
        if r < 0 or r > 2:
            continue
        for d in range(-1, 2):
            if f + d < 0 or f + d >= config[WIDTH]:
                continue
            t = state[4 * r + f + d]
            if d == 0:
                is_open = t == 0 or (config[HAS_TOWERS] == 1 and t == s + 1)
            else:
                is_open = t != 0 and (t - 1) % 2 != s
            if is_open:
                moves[k] = i * 16 + 4 * r + f + d
                k += 1
    return k


@jit
def gifts(state: Any, s: int, moves: Any) -> int:
    """Write the moves of side `s` in the gift phase; return their number."""
    moves[0] = PASS
    k = 1
    for i in range(12):
        if state[i] == s + 1:
            moves[k] = GIVEN + i
            k += 1
    return k


@jit
def arrived(state: Any) -> int:
    """Return 1 if White is on the far rank, else 2 if Black is, else 0."""
    for i in range(4):
        if state[8 + i] % 2 == 1:
            return 1
    for i in range(4):
        if state[i] > 0 and state[i] % 2 == 0:
            return 2
    return 0


@jit
def legal(state: Any, config: Any, moves: Any) -> int:
    if arrived(state) != 0:
        return 0
    s = state[TURN] % 2
    if state[TURN] >= GIVING:
        return gifts(state, s, moves)
    k = steps(state, config, s, moves)
    if k == 0 and config[NO_MOVES] == 1 and steps(state, config, 1 - s, moves) > 0:
        moves[0] = PASS
        return 1
    return k


@jit
def count(state: Any, config: Any) -> int:
    return legal(state, config, np.empty(MAX_MOVES, dtype=np.int64))


@jit
def play(state: Any, config: Any, move: int, out: Any) -> None:
    out[:] = state
    s = state[TURN] % 2
    if move >= GIVEN:
        out[move - GIVEN] = 0
    elif move != PASS:
        i, to = move // 16, move % 16
        out[i] = s + 1 if state[i] > 2 else 0
        out[to] = s + 3 if state[to] == s + 1 else s + 1
    out[TURN] = 1 - s
    if state[TURN] == GIVING:  # White has given: Black may too, and then play begins
        out[TURN] = GIVING + 1
    out[PLIES] = state[PLIES] + 1


@jit
def result(state: Any, config: Any, occurrences: int, gap: int) -> int:
    winner = arrived(state)
    if winner != 0:
        return winner
    if count(state, config) == 0:
        return 4 + 2 - state[TURN] if config[NO_MOVES] == 0 else 8 + 3
    if config[REPETITION] > 0 and occurrences >= config[REPETITION]:
        return 12 + 3
    return 16 + 3 if config[MAX_PLIES] > 0 and state[PLIES] >= config[MAX_PLIES] else 0


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
    """Return a static score: pawns and their advance."""
    score = 0
    for i in range(12):
        pawns = (state[i] + 1) // 2
        if state[i] % 2 == 1:
            score += pawns * (100 + 10 * (i // 4))
        else:
            score -= pawns * (100 + 10 * (2 - i // 4))
    return -score if state[TURN] % 2 == 1 else score
