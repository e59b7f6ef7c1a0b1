"""The compiled functions of hexapawn. Refuses to know texts.

    rank 3    8  9 10 11      state[0..11] the squares: 0 empty, 1 White, 2 Black
    rank 2    4  5  6  7      state[12]    0 White to move, 1 Black
    rank 1    0  1  2  3      state[13]    plies played
              a  b  c  d      a move is source * 16 + target; PASS = 256

The file d exists in the variant `wide` only: config[WIDTH] is 3 or 4.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from referee.rules.jit import jit, random_below

STATE_SIZE, KEY_SIZE, DTYPE, MAX_MOVES = 14, 13, np.int64, 16
NO_MOVES, REPETITION, MAX_PLIES, WIDTH = range(4)
PASS = 256


@jit
def steps(state: Any, config: Any, s: int, moves: Any) -> int:
    """Write the moves of side `s`; return their number."""
    k = 0
    for i in range(12):
        if state[i] != s + 1:
            continue
        f, r = i % 4, i // 4 + 1 - 2 * s
        if r < 0 or r > 2:
            continue
        for d in range(-1, 2):
            if 0 <= f + d < config[WIDTH] and state[4 * r + f + d] == (0 if d == 0 else 2 - s):
                moves[k] = i * 16 + 4 * r + f + d
                k += 1
    return k


@jit
def arrived(state: Any) -> int:
    """1 if White stands on the far rank, else 2 if Black does, else 0."""
    for i in range(4):
        if state[8 + i] == 1:
            return 1
    for i in range(4):
        if state[i] == 2:
            return 2
    return 0


@jit
def legal(state: Any, config: Any, moves: Any) -> int:
    """See `Kernel.legal`."""
    if arrived(state) != 0:
        return 0
    k = steps(state, config, state[12], moves)
    if k == 0 and config[NO_MOVES] == 1 and steps(state, config, 1 - state[12], moves) > 0:
        moves[0] = PASS
        return 1
    return k


@jit
def count(state: Any, config: Any) -> int:
    """See `Kernel.count`."""
    return legal(state, config, np.empty(MAX_MOVES, dtype=np.int64))


@jit
def play(state: Any, config: Any, move: int, out: Any) -> None:
    """See `Kernel.play`."""
    out[:] = state
    if move != PASS:
        out[move % 16] = state[move // 16]
        out[move // 16] = 0
    out[12] = 1 - state[12]
    out[13] = state[13] + 1


@jit
def result(state: Any, config: Any, occurrences: int, gap: int) -> int:
    """See `Kernel.result`."""
    winner = arrived(state)
    if winner != 0:
        return winner
    if count(state, config) == 0:
        return 4 + 2 - state[12] if config[NO_MOVES] == 0 else 8 + 3
    if config[REPETITION] > 0 and occurrences >= config[REPETITION]:
        return 12 + 3
    return 16 + 3 if config[MAX_PLIES] > 0 and state[13] >= config[MAX_PLIES] else 0


@jit
def perft(state: Any, config: Any, depth: int) -> int:
    """See `Kernel.perft`."""
    if depth == 0:
        return 1
    moves = np.empty(MAX_MOVES, dtype=np.int64)
    k = legal(state, config, moves)
    if depth == 1:
        return k
    total, out = 0, np.empty_like(state)
    for i in range(k):
        play(state, config, moves[i], out)
        total += perft(out, config, depth - 1)
    return total


@jit
def playout(state: Any, config: Any, rng: Any, max_plies: int) -> tuple[int, int]:
    """See `Kernel.playout`."""
    one, two = state.copy(), np.empty_like(state)
    moves = np.empty(MAX_MOVES, dtype=np.int64)
    for plies in range(max_plies):
        code = result(one, config, 1, 0)
        if code != 0:
            return code, plies
        play(one, config, moves[random_below(rng, legal(one, config, moves))], two)
        one, two = two, one
    return result(one, config, 1, 0), max_plies


@jit
def evaluate(state: Any, config: Any) -> int:
    """See `Kernel.evaluate`: pawns, and how far they are."""
    score = 0
    for i in range(12):
        if state[i] == 1:
            score += 100 + 10 * (i // 4)
        elif state[i] == 2:
            score -= 100 + 10 * (2 - i // 4)
    return -score if state[12] == 1 else score
