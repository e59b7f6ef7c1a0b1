"""The compiled functions of Pijersi, the `Kernel` protocol; see `docs/contributing/kernels.md`."""

from __future__ import annotations

from typing import Any

import numpy as np

from referee.rules.jit import ctz, jit, popcount, random_below
from referee.rules.pijersi.kernel_score import can_reach_goal, static_score
from referee.rules.pijersi.kernel_turns import MAX_PAIRS, has_turn, is_won, list_pairs, may_block, play_turn
from referee.rules.pijersi.state import (
    BOTTOMS,
    HALF,
    KEY_SIZE,
    NO_CAPTURE_LIMIT,
    PHASE,
    REPETITION,
    STATE_SIZE,
    SWAP,
    SWAPPING,
)

__all__ = [
    "DTYPE",
    "KEY_SIZE",
    "MAX_MOVES",
    "STATE_SIZE",
    "count",
    "evaluate",
    "legal",
    "may_win",
    "play",
    "playout",
    "result",
]

DTYPE = np.int64
MAX_MOVES = 4096
"""An upper bound. Each of the 45 cells has at most 6 + 6 * 14 = 90 turns of a stack, or 6 * 13 of a single cube."""

GOAL = 0  # indices into Rules.reasons
NO_CAPTURE = 1
NO_MOVES = 2
REPEATED = 3
DRAW = 3


@jit
def _swappable(state: Any) -> Any:
    """Return the single cubes of the side to move."""
    own = 4 * (state[PHASE] & 1)
    mine = state[own] | state[own + 1] | state[own + 2] | state[own + 3]
    return mine & ~(state[BOTTOMS] | state[BOTTOMS + 1] | state[BOTTOMS + 2] | state[BOTTOMS + 3])


@jit
def legal(state: Any, config: Any, moves: Any) -> Any:
    if is_won(state):
        return 0
    n = 0
    if state[PHASE] & SWAPPING:
        lows = _swappable(state)
        # Each pair of cubes once, and no swap at all.
        if popcount(lows) * (popcount(lows) - 1) // 2 + 1 > moves.size:
            raise OverflowError("more swaps than the move buffer holds")
        moves[0] = SWAP
        n = 1
        while lows:
            low = ctz(lows)
            lows &= lows - 1
            highs = lows
            while highs:
                # The lower cell first, so that each pair has one code, and codes ascend.
                moves[n] = SWAP | (low << 6) | ctz(highs)
                highs &= highs - 1
                n += 1
        return n
    starts = np.empty(MAX_PAIRS, dtype=np.int64)
    thirds = np.empty(MAX_PAIRS, dtype=np.int64)
    for pair in range(list_pairs(state, starts, thirds)):
        third = thirds[pair]
        if n + popcount(third) > moves.size:
            raise OverflowError("more turns than the move buffer holds")
        while third:
            moves[n] = starts[pair] | ctz(third)
            third &= third - 1
            n += 1
    return n


@jit
def count(state: Any, config: Any) -> Any:
    if is_won(state):
        return 0
    if state[PHASE] & SWAPPING:
        cubes = popcount(_swappable(state))
        return cubes * (cubes - 1) // 2 + 1
    starts = np.empty(MAX_PAIRS, dtype=np.int64)
    thirds = np.empty(MAX_PAIRS, dtype=np.int64)
    n = 0
    for pair in range(list_pairs(state, starts, thirds)):
        n += popcount(thirds[pair])
    return n


@jit
def play(state: Any, config: Any, move: Any, out: Any) -> Any:
    play_turn(state, move, out)


@jit
def result(state: Any, config: Any, occurrences: Any, gap: Any) -> Any:
    """Return the result code. The tests, in this order: goal, no-capture, no-moves, repetition."""
    won = is_won(state)
    if won:
        return GOAL * 4 + won
    limit = config[NO_CAPTURE_LIMIT]
    if limit and state[HALF] >= limit:
        return NO_CAPTURE * 4 + DRAW
    if not (state[PHASE] & SWAPPING or has_turn(state)):
        return NO_MOVES * 4 + 2 - (state[PHASE] & 1)
    if config[REPETITION] and occurrences >= config[REPETITION]:
        return REPEATED * 4 + DRAW
    return 0


@jit
def _random_turn(state: Any, rng: Any, starts: Any, thirds: Any) -> Any:
    """Return the code of a uniformly random turn; -1 without a turn."""
    if state[PHASE] & SWAPPING:
        cubes = _swappable(state)
        n = popcount(cubes)
        k = random_below(rng, n * (n - 1) // 2 + 1)
        # The last number stands for no swap, the others for the pairs in order.
        if k == n * (n - 1) // 2:
            return SWAP
        low = 0
        while k >= n - 1 - low:
            k -= n - 1 - low
            low += 1
        for skipped in range(low):
            cubes &= cubes - 1
        first = ctz(cubes)
        for skipped in range(k + 1):
            cubes &= cubes - 1
        return SWAP | (first << 6) | ctz(cubes)
    pairs = list_pairs(state, starts, thirds)
    n = 0
    for pair in range(pairs):
        n += popcount(thirds[pair])
    if n == 0:
        return -1
    k = random_below(rng, n)
    for pair in range(pairs):
        third = thirds[pair]
        size = popcount(third)
        if k < size:
            for skipped in range(k):
                third &= third - 1
            return starts[pair] | ctz(third)
        k -= size
    return -1


@jit
def playout(state: Any, config: Any, rng: Any, max_plies: Any) -> Any:
    starts = np.empty(MAX_PAIRS, dtype=np.int64)
    thirds = np.empty(MAX_PAIRS, dtype=np.int64)
    now = state.copy()
    after = state.copy()
    limit = config[NO_CAPTURE_LIMIT]
    plies = 0
    while True:
        won = is_won(now)
        if won:
            return GOAL * 4 + won, plies
        if limit and now[HALF] >= limit:
            return NO_CAPTURE * 4 + DRAW, plies
        turn = _random_turn(now, rng, starts, thirds)
        if turn < 0:
            return NO_MOVES * 4 + 2 - (now[PHASE] & 1), plies
        if plies >= max_plies:
            return 0, plies
        play_turn(now, turn, after)
        # The two arrays take turns, so that a playout allocates nothing at each ply.
        now, after = after, now
        plies += 1


@jit
def evaluate(state: Any, config: Any) -> Any:
    return static_score(state, config)


@jit
def may_win(state: Any, config: Any, moves: Any) -> Any:
    """Answer `Prospects.may_win` for one move; return True for more than one, and in the swap phase."""
    if moves > 1 or state[PHASE] & SWAPPING:
        return True
    side = state[PHASE] & 1
    return can_reach_goal(state, side) or may_block(state, 1 - side)
