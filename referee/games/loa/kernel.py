"""The compiled functions of Lines of Action: the `Kernel` protocol of `referee.rules`.

Refuses to know texts and the history of a game.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from referee.games.loa.kernel_lines import (
    connected,
    count_lines,
    list_lines,
    load,
    make,
    perft_lines,
    sides,
    words,
)
from referee.games.loa.state import (
    BAN,
    FIRST,
    HOLE,
    KEY_SIZE,
    MAX_PLIES,
    NEUTRAL,
    NO_MOVES,
    NUMBER,
    PASS,
    PLIES,
    REPETITION,
    REPETITION_RESULT,
    SIDE,
    SIMULTANEOUS,
    SIZE,
    STATE_SIZE,
)
from referee.games.loa.tables import LINES
from referee.jit import jit, random_below

__all__ = [
    "DTYPE",
    "KEY_SIZE",
    "MAX_MOVES",
    "STATE_SIZE",
    "count",
    "evaluate",
    "legal",
    "perft",
    "play",
    "playout",
    "result",
]

DTYPE = np.uint64
MAX_MOVES = 1160

CONNECTION, BOTH, BLOCKED, STUCK, REPEATED, LIMIT = range(6)
"""Reason numbers of `result`: indices into `Rules.reasons`."""


@jit
def joined(L: Any, config: Any, s: int) -> int:
    """The result code of connection with side `s` to move: 0 when neither side is connected."""
    first, second = connected(L, 0), connected(L, 1)
    if first and second:
        return BOTH * 4 + (2 - s if config[SIMULTANEOUS] == 1 else 3)
    return CONNECTION * 4 + (1 if first else 2) if first or second else 0


@jit
def stuck(L: Any, config: Any, s: int, z: int) -> int:
    """The result code when side `s` has no move: 0 when it passes."""
    if config[NO_MOVES] == 1:
        return STUCK * 4 + 2 - s
    if config[NO_MOVES] == 2:
        return STUCK * 4 + 3
    return BLOCKED * 4 + 3 if count_lines(L, 1 - s, config[SIZE], z, -1) == 0 else 0


@jit
def legal(state: Any, config: Any, moves: Any) -> int:
    """See `Kernel.legal`."""
    L = np.empty((3, LINES), dtype=np.int64)
    s, z, ban = sides(state)
    load(state, config[SIZE], L)
    if joined(L, config, s) != 0:
        return 0
    k = list_lines(L, s, config[SIZE], z, ban, moves)
    if k == 0 and stuck(L, config, s, z) == 0:
        moves[0] = PASS
        return 1
    return k


@jit
def count(state: Any, config: Any) -> int:
    """See `Kernel.count`."""
    L = np.empty((3, LINES), dtype=np.int64)
    s, z, ban = sides(state)
    load(state, config[SIZE], L)
    if joined(L, config, s) != 0:
        return 0
    k = count_lines(L, s, config[SIZE], z, ban)
    return 1 if k == 0 and stuck(L, config, s, z) == 0 else k


@jit
def place(q: int, n: int) -> tuple[int, Any]:
    """The word (0..2) and the bit of a square on a board of size `n`."""
    if n == 8:
        return 0, np.uint64(1) << np.uint64(q >> 4 << 3 | (q & 7))
    return q >> 6, np.uint64(1) << np.uint64(q & 63)


@jit
def play(state: Any, config: Any, move: int, out: Any) -> None:
    """See `Kernel.play`."""
    none, one = np.uint64(0), np.uint64(1)
    out[:] = state
    s = np.int64(state[SIDE])
    out[SIDE] = np.uint64(1 - s)
    out[BAN] = none
    out[PLIES] = state[PLIES] + one
    out[NUMBER] = state[NUMBER] + np.uint64(s)
    if move == PASS:
        return
    source, target = move >> 8, move & 255
    own, opp = FIRST + 3 * s, FIRST + 3 * (1 - s)
    w, bit = place(target, config[SIZE])
    out[opp + w] &= ~bit
    if np.int64(state[NEUTRAL]) == source + 1:
        out[NEUTRAL] = np.uint64(target + 1)
        out[BAN] = np.uint64(source + 1)
        return
    if target != config[HOLE]:
        out[own + w] |= bit
    if np.int64(state[NEUTRAL]) == target + 1:
        out[NEUTRAL] = none
    w, bit = place(source, config[SIZE])
    out[own + w] &= ~bit


@jit
def result(state: Any, config: Any, occurrences: int, gap: int) -> int:
    """See `Kernel.result`."""
    L = np.empty((3, LINES), dtype=np.int64)
    s, z, ban = sides(state)
    load(state, config[SIZE], L)
    code = joined(L, config, s)
    if code == 0 and count_lines(L, s, config[SIZE], z, ban) == 0:
        code = stuck(L, config, s, z)
    if code != 0:
        return code
    if config[REPETITION] > 0 and occurrences >= config[REPETITION]:
        return REPEATED * 4 + (1 + s if config[REPETITION_RESULT] == 1 else 3)
    if config[MAX_PLIES] > 0 and np.int64(state[PLIES]) >= config[MAX_PLIES]:
        return LIMIT * 4 + 3
    return 0


@jit
def perft(state: Any, config: Any, depth: int) -> int:
    """See `Kernel.perft`."""
    L = np.empty((3, LINES), dtype=np.int64)
    buffers = np.empty((depth + 1, MAX_MOVES), dtype=np.int64)
    s, z, ban = sides(state)
    load(state, config[SIZE], L)
    return perft_lines(L, buffers, s, config[SIZE], z, ban, config[HOLE], config[NO_MOVES] == 0, depth)


@jit
def playout(state: Any, config: Any, rng: Any, max_plies: int) -> tuple[int, int]:
    """See `Kernel.playout`."""
    L = np.empty((3, LINES), dtype=np.int64)
    moves = np.empty(MAX_MOVES, dtype=np.int64)
    s, z, ban = sides(state)
    load(state, config[SIZE], L)
    done = 0
    while True:
        code = joined(L, config, s)
        if code != 0:
            return code, done
        k = list_lines(L, s, config[SIZE], z, ban, moves)
        if k == 0:
            code = stuck(L, config, s, z)
            if code != 0:
                return code, done
        if config[MAX_PLIES] > 0 and np.int64(state[PLIES]) + done >= config[MAX_PLIES]:
            return LIMIT * 4 + 3, done
        if done >= max_plies:
            return 0, done
        ban = -1
        if k > 0:
            z, ban, _ = make(L, s, z, config[HOLE], moves[random_below(rng, k)])
        s = 1 - s
        done += 1


@jit
def spread(L: Any, s: int) -> int:
    """How far the pieces of a side stand from their centre, in sixteenths of a king's step per piece."""
    k, sum_r, sum_f = 0, 0, 0
    for r in range(12):
        for f in range(12):
            if L[s, r] >> f & 1:
                k += 1
                sum_r += r
                sum_f += f
    if k == 0:
        return 0
    cr, cf = 16 * sum_r // k, 16 * sum_f // k
    total = 0
    for r in range(12):
        for f in range(12):
            if L[s, r] >> f & 1:
                total += max(abs(16 * r - cr), abs(16 * f - cf))
    return total // k


@jit
def evaluate(state: Any, config: Any) -> int:
    """See `Kernel.evaluate`."""
    L = np.empty((3, LINES), dtype=np.int64)
    s, z, ban = sides(state)
    load(state, config[SIZE], L)
    score = 4 * (spread(L, 1 - s) - spread(L, s))
    score += 2 * (count_lines(L, s, config[SIZE], z, -1) - count_lines(L, 1 - s, config[SIZE], z, -1))
    if connected(L, s):
        score += 8000
    if connected(L, 1 - s):
        score -= 8000
    return score
