"""The compiled rules of Abalone: moves, play, result, random games and a static score of a state.

`state` describes the layout of states, and `tables` draws the 61-bit boards. `kernel_sets` lists and makes moves; its
letters are used here too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from referee.rules.abalone.kernel_sets import (
    AXES,
    I0,
    I1,
    I2,
    I3,
    I4,
    I5,
    IN,
    K0,
    K1,
    K2,
    K3,
    K4,
    K5,
    ONE,
    STEP,
    after,
    behind,
    count_direction,
    count_moves,
    has_move,
    list_moves,
    low_ends,
    rears,
    singles,
)
from referee.rules.abalone.state import (
    BLACK,
    BY_BLACK,
    BY_WHITE,
    KEY_SIZE,
    LIMIT_RESULT,
    MAX_PLIES,
    NO_EJECTION_LIMIT,
    NO_MOVES,
    NUMBER,
    PLIES,
    QUIET,
    REPETITION,
    SIDE,
    STATE_SIZE,
    WHITE,
    WIN_SCORE,
)
from referee.rules.abalone.tables import CIRCLES, MOVE_TEXTS, RING, code_shape, stays_inside
from referee.rules.jit import ctz, jit, popcount, random_below

__all__ = [
    "COUNTERS",
    "DTYPE",
    "KEY_SIZE",
    "MAX_MOVES",
    "STATE_SIZE",
    "count",
    "counted",
    "evaluate",
    "legal",
    "may_win",
    "play",
    "playout",
    "result",
]

DTYPE = np.int64  # a board needs 61 bits

BY_EJECTIONS, BY_NO_MOVES, BY_REPETITION, BY_NO_EJECTION, BY_MAX_PLIES = 0, 1, 2, 3, 4
"""Reasons, as indices of `Rules.reasons`."""
DRAW = 3

_INLINE = sum(code_shape(code) == 0 for code in MOVE_TEXTS)
_BROADSIDE = sum(code_shape(code) > 0 and stays_inside(code) for code in MOVE_TEXTS)
MAX_MOVES = _INLINE + _BROADSIDE // 2
"""An upper bound for any board: a broadside and the one that reverses it are never both possible."""

RING_0, RING_1, RING_2, RING_3, RING_4 = (np.uint64(circle) for circle in CIRCLES)


@jit
def _boards(state: Any) -> tuple[Any, Any]:
    """Return the boards of the side to move and of the other side."""
    side = state[SIDE]
    return np.uint64(state[BLACK + side]), np.uint64(state[WHITE - side])


@jit
def _is_won(state: Any, config: Any) -> bool:
    return max(state[BY_BLACK], state[BY_WHITE]) >= config[WIN_SCORE]  # type: ignore[no-any-return]


@jit
def legal(state: Any, config: Any, moves: Any) -> int:
    """Write the legal moves as ascending codes and return their number; 0 once a winning score is reached."""
    if _is_won(state, config):
        return 0
    o, x = _boards(state)
    return list_moves(o, x, moves)


@jit
def count(state: Any, config: Any) -> int:
    """Return the number of legal moves."""
    if _is_won(state, config):
        return 0
    o, x = _boards(state)
    return count_moves(o, x)


@jit
def play(state: Any, config: Any, move: int, out: Any) -> None:
    """Write the state after a legal move to `out`."""
    side = state[SIDE]
    o, x = _boards(state)
    o, x, ejected = after(o, x, move)
    out[BLACK + side] = np.int64(o)
    out[WHITE - side] = np.int64(x)
    out[SIDE] = 1 - side
    out[BY_BLACK + side] = state[BY_BLACK + side] + ejected
    out[BY_WHITE - side] = state[BY_WHITE - side]
    out[QUIET] = 0 if ejected else state[QUIET] + 1
    # Black, side 0, begins: a move number ends with White's ply.
    out[NUMBER] = state[NUMBER] + side
    out[PLIES] = state[PLIES] + 1


@jit
def _limit(state: Any, config: Any, reason: int) -> int:
    """Return the result code at a limit: a draw, or a win for more ejections if `limit_result` is `score`."""
    winner = DRAW
    if config[LIMIT_RESULT] == 1 and state[BY_BLACK] != state[BY_WHITE]:
        winner = 1 if state[BY_BLACK] > state[BY_WHITE] else 2
    return reason * 4 + winner


@jit
def _settled(state: Any, config: Any) -> int:
    """Return the result code of a winning score, of Black's before White's; 0 if neither side has one."""
    # A position that is set up may give both sides enough: then Black has won.
    if state[BY_BLACK] >= config[WIN_SCORE]:
        return BY_EJECTIONS * 4 + 1
    return BY_EJECTIONS * 4 + 2 if state[BY_WHITE] >= config[WIN_SCORE] else 0


@jit
def _stuck(state: Any, config: Any) -> int:
    """Return the result code for a side to move that has no legal move."""
    return BY_NO_MOVES * 4 + (DRAW if config[NO_MOVES] == 1 else 2 - state[SIDE])


@jit
def _limited(state: Any, config: Any) -> int:
    """Return the result code of the limit on plies without an ejection, else of that on all plies; 0 below both."""
    if 0 < config[NO_EJECTION_LIMIT] <= state[QUIET]:
        return _limit(state, config, BY_NO_EJECTION)
    if 0 < config[MAX_PLIES] <= state[PLIES]:
        return _limit(state, config, BY_MAX_PLIES)
    return 0


@jit
def result(state: Any, config: Any, occurrences: int, gap: int) -> int:
    """Return the result code, tested in the order of "The end" in RULES.md; 0 if the game continues."""
    code = _settled(state, config)
    if code != 0:
        return code
    o, x = _boards(state)
    if not has_move(o, x):
        return _stuck(state, config)
    if 0 < config[REPETITION] <= occurrences:
        return BY_REPETITION * 4 + DRAW
    return _limited(state, config)


@jit
def _pick(o: Any, x: Any, rng: Any) -> int:
    """Pick one of the legal moves with equal probability; return -1 without a legal move."""
    n0, n1, n2 = count_direction(o, x, 0), count_direction(o, x, 1), count_direction(o, x, 2)
    n3, n4, n5 = count_direction(o, x, 3), count_direction(o, x, 4), count_direction(o, x, 5)
    total = n0 + n1 + n2 + n3 + n4 + n5
    if total == 0:
        return -1
    # Counting costs less than listing: draw the number of a move, and skip whole directions and shapes before it.
    r, d = random_below(rng, total), 0
    # The sixth needs no test: what is left belongs to it.
    for n in (n0, n1, n2, n3, n4):
        if r < n:
            break
        r -= n
        d += 1
    k, i, e, f = STEP[d], IN[d], AXES[d, 0], AXES[d, 1]
    s, shape = rears(o, x, k, i), 0
    m = singles(o, x, k, i)
    while r >= popcount(s):
        r -= popcount(s)
        shape += 1
        s = low_ends(m, shape, STEP[e], IN[e], STEP[f], IN[f])
    for _ in range(r):
        s &= s - ONE
    return (5 * d + shape) << 6 | ctz(s)  # type: ignore[no-any-return]


@jit
def playout(state: Any, config: Any, rng: Any, max_plies: int) -> tuple[int, int]:
    """Play a uniformly random game, ignoring repetition; return (result code or 0, plies played)."""
    here = state.copy()
    there = np.empty_like(here)
    n = 0
    while True:
        code = _settled(here, config)
        if code != 0:
            return code, n
        o, x = _boards(here)
        # In the order of `result`: a side without a move has lost, or drawn, before the limits are looked at.
        move = _pick(o, x, rng)
        if move < 0:
            return _stuck(here, config), n
        code = _limited(here, config)
        if code != 0 or n >= max_plies:
            return code, n
        play(here, config, move, there)
        here, there = there, here
        n += 1


@jit
def _standing(o: Any) -> int:
    """Score the marbles `o` by closeness to the centre and by cohesion."""
    score = (
        30 * popcount(o & RING_0)
        + 27 * popcount(o & RING_1)
        + 20 * popcount(o & RING_2)
        + 10 * popcount(o & RING_3)
        - 10 * popcount(o & RING_4)
    )
    pairs = popcount(o & behind(o, K0, I0)) + popcount(o & behind(o, K1, I1)) + popcount(o & behind(o, K2, I2))
    return score + 12 * pairs  # type: ignore[no-any-return]


@jit
def _threats_in(o: Any, x: Any, k: Any, i: Any) -> int:
    """Count the `_threats` in one direction: two marbles against one, and three against two."""
    rim = behind(x & ~i, k, i)  # cells before an enemy marble that has no cell behind it
    one = o & behind(o & rim, k, i)
    two = o & behind(o & behind(o & behind(x & rim, k, i), k, i), k, i)
    return popcount(one) + popcount(two)  # type: ignore[no-any-return]


@jit
def _threats(o: Any, x: Any) -> int:
    """Count the enemy marbles on the rim that the next move could push off, once for each direction."""
    return (
        _threats_in(o, x, K0, I0)
        + _threats_in(o, x, K1, I1)
        + _threats_in(o, x, K2, I2)
        + _threats_in(o, x, K3, I3)
        + _threats_in(o, x, K4, I4)
        + _threats_in(o, x, K5, I5)
    )


@jit
def evaluate(state: Any, config: Any) -> int:
    """Return a static score for the side to move: ejections, closeness to the centre, cohesion and threats.

    A two-ply search with these weights won most games against two-ply searches with slightly different ones.
    """
    code = _settled(state, config)
    side = state[SIDE]
    if code != 0:
        return 15_000 if code % 4 == side + 1 else -15_000
    o, x = _boards(state)
    score = 100 * (state[BY_BLACK + side] - state[BY_WHITE - side])
    score += _standing(o) - _standing(x)
    # The side to move can carry out one of its threats only.
    score += 45 * min(_threats(o, x), 1) - 15 * min(_threats(x, o), 3)
    return score  # type: ignore[no-any-return]


@jit
def _beside(x: Any) -> Any:
    """Return the cells with a neighbour in `x`."""
    around = behind(x, K0, I0) | behind(x, K1, I1) | behind(x, K2, I2)
    return around | behind(x, K3, I3) | behind(x, K4, I4) | behind(x, K5, I5)


@jit
def may_win(state: Any, config: Any, moves: int) -> bool:
    """Answer `Prospects.may_win`: can `moves` moves eject enough marbles, or leave the other side without a move?

    The other side has a move while a free cell, empty and next to one of its marbles, is left. A move of the winning
    side removes at most five free cells: a push fills one, and four more may have touched no enemy marble but the pushed
    one. The other side can always answer with a step to a free cell, which removes at most three.
    """
    # Then any move may win: the one that reaches a limit with more ejections.
    if config[LIMIT_RESULT] == 1:
        return True
    o, x = _boards(state)
    # If every move has to eject a marble, so has the first one.
    needed = config[WIN_SCORE] - state[BY_BLACK + state[SIDE]]
    if needed < moves or (needed == moves and _threats(o, x) > 0):
        return True
    return config[NO_MOVES] != 1 and popcount(_beside(x) & ~(o | x)) <= 8 * moves  # type: ignore[no-any-return]


COUNTERS = ("marbles",)
"""What `counted` counts: the own marbles that a move moves."""


@jit
def counted(state: Any, config: Any, move: int, counter: int) -> int:
    """Return the number of own marbles that a legal move moves; those it pushes do not count."""
    shape = (move >> 6) % 5
    if shape:
        return 3 - shape % 2
    own, cell, step = _boards(state)[0], np.int64(move & 63), np.int64(STEP[(move >> 6) // 5])
    marbles = 0
    # Three at most: ahead of the line of a legal move is an empty cell or an enemy.
    while own >> np.uint64(cell) & ONE:
        marbles += 1
        cell = (cell + step) % RING
    return marbles
