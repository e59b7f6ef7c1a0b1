"""The compiled functions of Tablut, the `Kernel` protocol; `kernel_board` contains the rules themselves."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from referee.rules.jit import borrowing, jit, random_below
from referee.rules.rules import Config, State
from referee.rules.tablut.kernel_board import (
    NO_CAPTURE,
    PERPETUAL,
    REPEATED,
    STUCK,
    TOO_LONG,
    advance,
    board_result,
    count_moves,
    free_ways,
    has_move,
    winner_code,
)
from referee.rules.tablut.kernel_line import movement
from referee.rules.tablut.kernel_move import list_moves, nth_move, play_into
from referee.rules.tablut.kernel_score import evaluate
from referee.rules.tablut.state import (
    DEFENDERS_LOSE,
    DRAW,
    FIRST_PLAYER,
    KEY_SIZE,
    LOSS,
    MAX_PLIES,
    NO_CAPTURE_LIMIT,
    NO_MOVES,
    PERPETUAL_RAICHI,
    PLY,
    QUIET,
    RAICHI,
    REPETITION,
    REPETITION_RESULT,
    SIDE,
    STATE_SIZE,
)

__all__ = ["DTYPE", "KEY_SIZE", "MAX_MOVES", "STATE_SIZE", "count", "evaluate", "free_ways", "legal", "play"]
__all__ += ["playout", "result"]

DTYPE = np.int32
# n pieces have at most 16 n moves, and each of the 81 - n empty cells is the target of at most 4, one per direction.
# So the number of moves is at most min(16 n, 4 (81 - n)), which is at most 256 for any board and any options.
MAX_MOVES = 256


@borrowing
def legal(state: State, config: Config, moves: npt.NDArray[np.int64]) -> int:
    """Write the legal moves (start cell * 81 + end cell) in ascending order; return their number."""
    m = movement(config)
    if board_result(state, config, m) != 0:
        return 0
    return list_moves(state, m, moves)


@borrowing
def count(state: State, config: Config) -> int:
    """Return the number of legal moves."""
    m = movement(config)
    if board_result(state, config, m) != 0:
        return 0
    return count_moves(state, m)


@borrowing
def play(state: State, config: Config, move: int, out: State) -> None:
    """Write the position after a legal move to `out`."""
    play_into(state, config, movement(config), move, out)


@borrowing
def result_without_repetition(state: State, config: Config, is_stuck: bool) -> int:
    """Return the result code of a position undecided on the board, ignoring repetition.

    `is_stuck` says whether the side to move has no legal move.
    """
    if is_stuck:
        if config[NO_MOVES] == DRAW:
            return STUCK * 4 + 3
        return winner_code(int(config[FIRST_PLAYER]), STUCK, 1 - int(state[SIDE]))
    if config[NO_CAPTURE_LIMIT] > 0 and state[QUIET] >= config[NO_CAPTURE_LIMIT]:
        return NO_CAPTURE * 4 + 3
    if config[MAX_PLIES] > 0 and state[PLY] >= config[MAX_PLIES]:
        return TOO_LONG * 4 + 3
    return 0


@borrowing
def result(state: State, config: Config, occurrences: int, gap: int) -> int:
    """Return the result code, with all tests in the order of the rules."""
    m = movement(config)
    code = board_result(state, config, m)
    if code != 0:
        return code
    is_stuck = not has_move(state, m)
    # The order of the rules: a side without a move has lost or drawn before repetition counts.
    if not is_stuck and config[REPETITION] > 0 and occurrences >= config[REPETITION]:
        # Of the `gap` plies since the previous occurrence every second one left the attackers to move.
        if config[PERPETUAL_RAICHI] == DEFENDERS_LOSE and gap > 0 and 2 * state[RAICHI] >= gap:
            return winner_code(int(config[FIRST_PLAYER]), PERPETUAL, 0)
        if config[REPETITION_RESULT] == LOSS:
            return winner_code(int(config[FIRST_PLAYER]), REPEATED, int(state[SIDE]))
        return REPEATED * 4 + 3
    return result_without_repetition(state, config, is_stuck)


# Not `borrowing`: it allocates an array.
@jit
def playout(state: State, config: Config, rng: npt.NDArray[np.uint64], max_plies: int) -> tuple[int, int]:
    """Play a uniformly random game; return (result code or 0, plies played)."""
    m = movement(config)
    now = np.empty(STATE_SIZE, np.int32)
    for i in range(STATE_SIZE):
        now[i] = state[i]
    plies = 0
    while True:
        code, moves = board_result(now, config, m), 0
        if code == 0:
            moves = count_moves(now, m)
            code = result_without_repetition(now, config, moves == 0)
        if code != 0 or plies >= max_plies:
            return code, plies
        advance(now, config, m, nth_move(now, m, random_below(rng, moves)))
        plies += 1
