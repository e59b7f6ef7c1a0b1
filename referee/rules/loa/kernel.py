"""The compiled functions of Lines of Action: the `Kernel` protocol of `referee.rules.kernel_protocol`."""

from __future__ import annotations

from typing import Any

import numpy as np

from referee.rules.jit import jit, random_below
from referee.rules.loa.kernel_linear import (
    LINEAR_FEATURE_COUNT,
    MAX_LINEAR_FEATURES,
    MOBILITY,
    PRIOR_WEIGHTS,
    TIED_FEATURES,
    linear_features8,
)
from referee.rules.loa.kernel_lines import (
    connected,
    count_lines,
    list_lines,
    load,
    make,
    sides,
    signed,
    words,
)
from referee.rules.loa.kernel_shape import shape8, shape_lines
from referee.rules.loa.kernel_ternary import (
    connected8,
    count8,
    has_move8,
    lead8,
    list8,
    load8,
    put,
    random8,
)
from referee.rules.loa.state import (
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
    SECOND,
    SIDE,
    SIMULTANEOUS,
    SIZE,
    STATE_SIZE,
)
from referee.rules.loa.tables import BLACK, LINES, LINES8, NOWHERE, THIRD, WHITE

__all__ = [
    "DTYPE",
    "KEY_SIZE",
    "LINEAR_FEATURE_COUNT",
    "MAX_LINEAR_FEATURES",
    "MAX_MOVES",
    "PRIOR_WEIGHTS",
    "STATE_SIZE",
    "TIED_FEATURES",
    "count",
    "evaluate",
    "legal",
    "linear_features",
    "play",
    "playout",
    "result",
]

DTYPE = np.uint64
MAX_MOVES = 376
"""The most moves on a 12x12 board are 368 (see "Buffer" in RULES.md). `list_lines` asks for room for eight more."""

CONNECTION, BOTH, BLOCKED, STUCK, REPEATED, LIMIT = range(6)
"""Reason numbers of `result`: indices into `Rules.reasons`."""

DECIDED = 15_000
"""Evaluation of a decided board."""


@jit
def ended(first: bool, second: bool, config: Any, s: int) -> int:
    """Return the result code of connection with side `s` to move, given which sides are connected; 0 if neither is."""
    if first and second:
        return BOTH * 4 + (2 - s if config[SIMULTANEOUS] == 1 else 3)
    return CONNECTION * 4 + (1 if first else 2) if first or second else 0


@jit
def stuck(replies: int, config: Any, s: int) -> int:
    """Return the result code if side `s` has no move and its opponent would have `replies` moves; 0 if `s` passes."""
    if config[NO_MOVES] == 1:
        return STUCK * 4 + 2 - s
    if config[NO_MOVES] == 2:
        return STUCK * 4 + 3
    return BLOCKED * 4 + 3 if replies == 0 else 0


@jit
def legal(state: Any, config: Any, moves: Any) -> int:
    s, z, ban = sides(state)
    n = config[SIZE]
    if n == 8:
        if connected8(state[FIRST]) or connected8(state[SECOND]):
            return 0
        X = np.empty(LINES8, dtype=np.int64)
        load8(state, X)
        k = list8(X, state[FIRST + 3 * s], s, moves)
        # A side without a move passes, unless the rules end the game instead: then no move is legal.
        if k == 0 and stuck(count8(X, 1 - s), config, s) != 0:
            return 0
    else:
        L = np.empty((3, LINES), dtype=np.int64)
        load(state, n, L)
        if connected(L, BLACK) or connected(L, WHITE):
            return 0
        k = list_lines(L, s, n, z, ban, moves)
        if k == 0 and stuck(count_lines(L, 1 - s, n, z, NOWHERE), config, s) != 0:
            return 0
    if k == 0:
        moves[0] = PASS
        return 1
    return k


@jit
def board_result(state: Any, config: Any) -> tuple[int, int]:
    """Return (result code of the board alone, or 0; the number of moves, a pass included)."""
    s, z, ban = sides(state)
    n = config[SIZE]
    if n == 8:
        code = ended(connected8(state[FIRST]), connected8(state[SECOND]), config, s)
        if code != 0:
            return code, 0
        X = np.empty(LINES8, dtype=np.int64)
        load8(state, X)
        k = count8(X, s)
        # Replies matter only if this side has no move.
        replies = count8(X, 1 - s) if k == 0 else 1
    else:
        L = np.empty((3, LINES), dtype=np.int64)
        load(state, n, L)
        code = ended(connected(L, BLACK), connected(L, WHITE), config, s)
        if code != 0:
            return code, 0
        k = count_lines(L, s, n, z, ban)
        replies = count_lines(L, 1 - s, n, z, NOWHERE) if k == 0 else 1
    if k > 0:
        return 0, k
    code = stuck(replies, config, s)
    return code, 1 if code == 0 else 0


@jit
def is_open8(state: Any) -> bool:
    """Return whether on the 8x8 board neither side is connected and the side to move has a move."""
    if connected8(state[FIRST]) or connected8(state[SECOND]):
        return False
    s = signed(state[SIDE])
    return has_move8(state[FIRST + 3 * s], state[SECOND - 3 * s])


@jit
def count(state: Any, config: Any) -> int:
    return board_result(state, config)[1]


@jit
def place(q: int, n: int) -> tuple[int, Any]:
    """Return the word (0..2) and the bit of a square on a board of size `n`."""
    if n == 8:
        # A rank has eight bits on this board, and sixteen on the others, as in the number of a square.
        return 0, np.uint64(1) << np.uint64(q >> 4 << 3 | (q & 7))
    return q >> 6, np.uint64(1) << np.uint64(q & 63)


@jit
def play(state: Any, config: Any, move: int, out: Any) -> None:
    none, unit = np.uint64(0), np.uint64(1)
    for i in range(STATE_SIZE):
        out[i] = state[i]
    s = signed(state[SIDE])
    out[SIDE] = np.uint64(1 - s)
    out[BAN] = none
    out[PLIES] = state[PLIES] + unit
    out[NUMBER] = state[NUMBER] + np.uint64(s)
    if move == PASS:
        return
    source, target = move >> 8, move & 255
    own, opp = FIRST + 3 * s, FIRST + 3 * (1 - s)
    w, bit = place(target, config[SIZE])
    out[opp + w] &= ~bit
    if signed(state[NEUTRAL]) == source + 1:
        out[NEUTRAL] = np.uint64(target + 1)
        out[BAN] = np.uint64(source + 1)
        return
    # A piece that enters the hole leaves the board.
    if target != config[HOLE]:
        out[own + w] |= bit
    if signed(state[NEUTRAL]) == target + 1:
        out[NEUTRAL] = none
    w, bit = place(source, config[SIZE])
    out[own + w] &= ~bit


@jit
def result(state: Any, config: Any, occurrences: int, gap: int) -> int:
    # Nearly all positions of a search are open, which is found without the tables of lines.
    if config[SIZE] != 8 or not is_open8(state):
        code = board_result(state, config)[0]
        if code != 0:
            return code
    if config[REPETITION] > 0 and occurrences >= config[REPETITION]:
        return REPEATED * 4 + (1 + signed(state[SIDE]) if config[REPETITION_RESULT] == 1 else 3)
    if config[MAX_PLIES] > 0 and signed(state[PLIES]) >= config[MAX_PLIES]:
        return LIMIT * 4 + 3
    return 0


@jit
def playout(state: Any, config: Any, rng: Any, max_plies: int) -> tuple[int, int]:
    plies = signed(state[PLIES])
    last = max_plies if config[MAX_PLIES] == 0 else min(max_plies, max(config[MAX_PLIES] - plies, 0))
    if config[SIZE] == 8:
        code, done = playout8(state, config, rng, last)
    else:
        code, done = playout_lines(state, config, rng, last)
    if code == 0 and config[MAX_PLIES] > 0 and plies + done >= config[MAX_PLIES]:
        code = LIMIT * 4 + 3
    return code, done


@jit
def playout8(state: Any, config: Any, rng: Any, last: int) -> tuple[int, int]:
    """Run a playout of at most `last` plies on the 8x8 board."""
    X = np.empty(LINES8, dtype=np.int64)
    load8(state, X)
    s, _, _ = sides(state)
    a, b = state[FIRST + 3 * s], state[SECOND - 3 * s]
    code, done = ended(connected8(state[FIRST]), connected8(state[SECOND]), config, s), 0
    while code == 0:
        # At the limit of plies no move is drawn, but a side without a move still ends the game.
        move = random8(X, s, rng) if done < last else -1
        if move < 0:
            if done < last or count8(X, s) == 0:
                code = stuck(count8(X, 1 - s), config, s)
            if code != 0 or done >= last:
                break
            a, b = b, a
        else:
            to = np.uint64(1) << np.uint64(move & 63)
            rest = a & ~(np.uint64(1) << np.uint64(move >> 6))
            put(X, move >> 6, -1 - s)
            # The digit of side s is 1 + s: a capture turns the other side's digit, 2 - s, into it.
            put(X, move & 63, 1 + s if b & to == np.uint64(0) else 2 * s - 1)
            # The opponent can be connected only by the loss of a piece.
            mine, theirs = connected8(rest | to), b & to != np.uint64(0) and connected8(b & ~to)
            a, b = b & ~to, rest | to
            if mine or theirs:
                code = ended(theirs, mine, config, 1 - s) if s == 1 else ended(mine, theirs, config, 1 - s)
        s = 1 - s
        done += 1
    return code, done


@jit
def playout_lines(state: Any, config: Any, rng: Any, last: int) -> tuple[int, int]:
    """Run a playout of at most `last` plies on a larger board."""
    L = np.empty((3, LINES), dtype=np.int64)
    moves = np.empty(MAX_MOVES, dtype=np.int64)
    s, z, ban = sides(state)
    n, done = config[SIZE], 0
    load(state, n, L)
    while True:
        code = ended(connected(L, BLACK), connected(L, WHITE), config, s)
        if code != 0:
            return code, done
        k = list_lines(L, s, n, z, ban, moves)
        if k == 0:
            code = stuck(count_lines(L, 1 - s, n, z, NOWHERE), config, s)
        if code != 0 or done >= last:
            return code, done
        ban = NOWHERE
        if k > 0:
            z, ban = make(L, s, z, config[HOLE], moves[random_below(rng, k)])
        s = 1 - s
        done += 1


@jit
def evaluate(state: Any, config: Any) -> int:
    """Return a static score: grouping (see `kernel_shape`) and mobility; a decided board scores 15,000."""
    s, z, _ = sides(state)
    n = config[SIZE]
    code = 0
    if n == 8:
        first, second = shape8(state[FIRST]), shape8(state[SECOND])
        code = ended(first == 0, second == 0, config, s)
        score = second - first + MOBILITY * lead8(state[FIRST], state[SECOND])
    else:
        L = np.empty((3, LINES), dtype=np.int64)
        load(state, n, L)
        code = ended(connected(L, BLACK), connected(L, WHITE), config, s)
        z0, z1, z2 = words(L, THIRD)
        a0, a1, a2 = words(L, BLACK)
        b0, b1, b2 = words(L, WHITE)
        score = shape_lines(b0 | z0, b1 | z1, b2 | z2) - shape_lines(a0 | z0, a1 | z1, a2 | z2)
        score += MOBILITY * (count_lines(L, BLACK, n, z, NOWHERE) - count_lines(L, WHITE, n, z, NOWHERE))
    if code != 0:
        score = 0 if code % 4 == 3 else (DECIDED if code % 4 == 1 else -DECIDED)
    return -score if s == 1 else score


@jit
def linear_features(state: Any, config: Any, found: Any) -> int:
    # The features exist for the 8x8 board only: see `referee.rules.loa.features`.
    s = signed(state[SIDE])
    return linear_features8(state[FIRST + 3 * s], state[SECOND - 3 * s], found)
