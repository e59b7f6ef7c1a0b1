"""The compiled functions of Tablut behind the `Kernel` protocol; the rules themselves are in `kernel_board`.

Refuses to know texts, clocks and history beyond the two numbers `result` is told.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from referee.games.tablut.config import (
    DEFENDERS_LOSE,
    DRAW,
    LOSS,
    MAX_PLIES,
    NO_CAPTURE_LIMIT,
    NO_MOVES,
    PERPETUAL_RAICHI,
    REPETITION,
    REPETITION_RESULT,
)
from referee.games.tablut.kernel_board import (
    KEY_SIZE,
    KING,
    NO_CAPTURE,
    PERPETUAL,
    PLY,
    QUIET,
    RAICHI,
    REPEATED,
    SIDE,
    STATE_SIZE,
    STUCK,
    TOO_LONG,
    advance,
    bits,
    board_result,
    count_moves,
    free_ways,
    king_reach,
    soldier_reach,
    winner_code,
)
from referee.games.tablut.kernel_score import evaluate
from referee.jit import ctz, jit, random_below
from referee.rules import Config, State

__all__ = ["DTYPE", "KEY_SIZE", "MAX_MOVES", "STATE_SIZE", "count", "evaluate", "free_ways", "legal", "perft", "play"]
__all__ += ["playout", "result"]

DTYPE = np.int32
MAX_MOVES = 256
"""n pieces have at most 16 n moves; each of the 81 - n empty cells is entered by at most 4 of them, one from each
direction: min(16 n, 4 (81 - n)) is at most 256, whatever stands on the board."""


@jit
def legal(state: State, config: Config, moves: npt.NDArray[np.int64]) -> int:
    """The legal moves (start cell * 81 + end cell) in ascending order; see `Kernel.legal`."""
    if board_result(state, config) != 0:
        return 0
    side = int(state[SIDE])
    n = 0
    for x in range(9):
        own = int(state[18 * side + 9 + x])
        while own != 0:
            y = ctz(np.uint64(own))
            own &= own - 1
            start = x * 9 + y
            if state[KING] == start:
                across, along = king_reach(state, config, y, x), king_reach(state, config, 9 + x, y)
            else:
                across, along = soldier_reach(state, config, y, x, side), soldier_reach(state, config, 9 + x, y, side)
            if n + bits(across) + bits(along) > moves.shape[0]:
                raise OverflowError("more moves than the buffer holds")
            left = across & ((1 << x) - 1)
            right = across ^ left
            while left != 0:
                moves[n] = start * 81 + ctz(np.uint64(left)) * 9 + y
                left &= left - 1
                n += 1
            while along != 0:
                moves[n] = start * 81 + x * 9 + ctz(np.uint64(along))
                along &= along - 1
                n += 1
            while right != 0:
                moves[n] = start * 81 + ctz(np.uint64(right)) * 9 + y
                right &= right - 1
                n += 1
    return n


@jit
def count(state: State, config: Config) -> int:
    """The number `legal` would return."""
    if board_result(state, config) != 0:
        return 0
    return count_moves(state, config)


@jit
def play(state: State, config: Config, move: int, out: State) -> None:
    """The position after a legal move."""
    for i in range(STATE_SIZE):
        out[i] = state[i]
    advance(out, config, move)


@jit
def result_without_repetition(state: State, config: Config, moves: int) -> int:
    """`result` of a position with `moves` legal moves on a board that decides nothing, repetition left out."""
    if moves == 0:
        if config[NO_MOVES] == DRAW:
            return STUCK * 4 + 3
        return winner_code(config, STUCK, 1 - state[SIDE])
    if config[NO_CAPTURE_LIMIT] > 0 and state[QUIET] >= config[NO_CAPTURE_LIMIT]:
        return NO_CAPTURE * 4 + 3
    if config[MAX_PLIES] > 0 and state[PLY] >= config[MAX_PLIES]:
        return TOO_LONG * 4 + 3
    return 0


@jit
def result(state: State, config: Config, occurrences: int, gap: int) -> int:
    """How the game stands, all tests in the order of the rules; see `Kernel.result`."""
    found = board_result(state, config)
    if found != 0:
        return found
    moves = count_moves(state, config)
    if moves > 0 and config[REPETITION] > 0 and occurrences >= config[REPETITION]:
        # Of the `gap` plies since the previous occurrence every second one left the attackers to move.
        if config[PERPETUAL_RAICHI] == DEFENDERS_LOSE and gap > 0 and 2 * state[RAICHI] >= gap:
            return winner_code(config, PERPETUAL, 0)
        if config[REPETITION_RESULT] == LOSS:
            return winner_code(config, REPEATED, state[SIDE])
        return REPEATED * 4 + 3
    return result_without_repetition(state, config, moves)


@jit
def perft_below(states: npt.NDArray[np.int32], buffers: npt.NDArray[np.int64], config: Config, depth: int) -> int:
    """Leaves below the position in row `depth`; the rows under it are scratch."""
    if depth == 1:
        return count(states[1], config)
    found = 0
    for i in range(legal(states[depth], config, buffers[depth])):
        play(states[depth], config, buffers[depth, i], states[depth - 1])
        found += perft_below(states, buffers, config, depth - 1)
    return found


@jit
def perft(state: State, config: Config, depth: int) -> int:
    """Leaves at exactly `depth` plies; see `Kernel.perft`."""
    if depth < 1:
        return 1
    states = np.empty((depth + 1, STATE_SIZE), np.int32)
    buffers = np.empty((depth + 1, MAX_MOVES), np.int64)
    states[depth] = state
    return perft_below(states, buffers, config, depth)


@jit
def nth_move(state: State, config: Config, n: int) -> int:
    """The n-th (from 0) of the moves in the order of `legal`."""
    side = int(state[SIDE])
    for x in range(9):
        own = int(state[18 * side + 9 + x])
        while own != 0:
            y = ctz(np.uint64(own))
            own &= own - 1
            start = x * 9 + y
            if state[KING] == start:
                across, along = king_reach(state, config, y, x), king_reach(state, config, 9 + x, y)
            else:
                across, along = soldier_reach(state, config, y, x, side), soldier_reach(state, config, 9 + x, y, side)
            here = bits(across) + bits(along)
            if n >= here:
                n -= here
                continue
            left = across & ((1 << x) - 1)
            right = across ^ left
            first, second = bits(left), bits(along)
            if n < first:
                return start * 81 + nth_bit(left, n) * 9 + y  # type: ignore[no-any-return]
            if n < first + second:
                return start * 81 + x * 9 + nth_bit(along, n - first)  # type: ignore[no-any-return]
            return start * 81 + nth_bit(right, n - first - second) * 9 + y  # type: ignore[no-any-return]
    return -1


@jit
def nth_bit(b: int, n: int) -> int:
    """The number of the n-th (from 0) one bit of a line."""
    for _ in range(n):
        b &= b - 1
    return ctz(np.uint64(b))  # type: ignore[no-any-return]


@jit
def playout(state: State, config: Config, rng: npt.NDArray[np.uint64], max_plies: int) -> tuple[int, int]:
    """A uniformly random game: (result code or 0, plies played); see `Kernel.playout`."""
    now = np.empty(STATE_SIZE, np.int32)
    for i in range(STATE_SIZE):
        now[i] = state[i]
    plies = 0
    while True:
        found = board_result(now, config)
        moves = 0
        if found == 0:
            moves = count_moves(now, config)
            found = result_without_repetition(now, config, moves)
        if found != 0 or plies >= max_plies:
            return found, plies
        advance(now, config, nth_move(now, config, random_below(rng, moves)))
        plies += 1
