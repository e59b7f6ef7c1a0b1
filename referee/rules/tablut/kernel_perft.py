"""Counting the leaves of Tablut's game tree.

The last two plies are counted together. A quiet move of a soldier changes only three lines: the one it runs along and the
two it crosses at its ends. So at a node two plies above the leaves the enemy's moves are counted once, line by line, and
the count after each quiet move follows from three lines looked up again, and the king's moves on the one line of his
that changed. Moves that may capture, and the king's own, are played out and counted in full. Wherever a quiet move can
do more (closed camps, bases open or barred as attackers come and go, tuichi ending the game) all moves are played out.

Letters as in `kernel_board`; `w` is scratch. Refuses to know history: draws by repetition and limits are ignored.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from referee.rules.jit import jit
from referee.rules.rules import Config, State
from referee.rules.tablut.kernel_board import board_result, count_moves, king_bit, live_bases
from referee.rules.tablut.kernel_line import (
    CAMPS_CLOSED,
    MIDDLE,
    ONLY_OCCUPIED,
    SOLDIERS_GLIDE,
    bits,
    king_line,
    movement,
    soldier_line,
)
from referee.rules.tablut.kernel_move import list_moves, lowest, play_into
from referee.rules.tablut.state import (
    ASHTON,
    CAMP_HOSTILE,
    HOSTILE_TO_ATTACKERS,
    HOSTILE_TO_BOTH,
    KING,
    SIDE,
    STATE_SIZE,
    THRONE_HOSTILE,
    THRONE_KING_HOSTILE,
    TUICHI_WINS,
)
from referee.rules.tablut.tables import BASE_FLANKS, BASES, PASSING, POWERS, SLIDES, TERNARY

MAX_MOVES = 256
INDEX, COUNT, RISK = 0, 18, 36  # where the parts of the scratch array begin, 18 lines each
WORK_SIZE = 54


@jit
def count_after(s: State, c: Config, m: int) -> int:
    """The number of moves of a position, 0 when the board decides it."""
    if board_result(s, c, m) != 0:
        return 0
    return count_moves(s, m)


@jit
def count_played(s: State, t: State, c: Config, m: int, move: int) -> int:
    """The number of answers to a move, which is played on `t`."""
    play_into(s, c, m, move, t)
    return count_after(t, c, m)


@jit
def prepare(s: State, c: Config, m: int, w: npt.NDArray[np.int64]) -> int:
    """Fill the scratch array for the enemy of the side to move; return how many moves his soldiers have.

    Per line: the index of the enemy's soldiers in `SLIDES`, their number of moves, and the places where a soldier of
    the side to move might capture (all where it does, and some where it does not).
    """
    side, k = int(s[SIDE]), int(s[KING])
    throne, ashton, total = 0, c[CAMP_HOSTILE] == ASHTON, 0
    if side == 0:
        if c[THRONE_HOSTILE] > HOSTILE_TO_ATTACKERS or c[THRONE_KING_HOSTILE] != 0:
            throne = MIDDLE
    elif c[THRONE_HOSTILE] == HOSTILE_TO_ATTACKERS or c[THRONE_HOSTILE] == HOSTILE_TO_BOTH:
        throne = MIDDLE
    for l in range(18):
        own, enemy = int(s[18 * side + l]), int(s[18 - 18 * side + l])
        king = king_bit(l, k)
        if side == 0:
            enemy &= ~king
        walls, half = own | (king if side == 0 else 0), 0
        hostile = own
        if l == 4 or l == 13:
            hostile |= throne
            if m & SOLDIERS_GLIDE:
                half = PASSING
            else:
                walls |= MIDDLE
        if ashton:
            hostile |= int(BASES[l]) if side == 0 else int(BASE_FLANKS[l])
        w[INDEX + l] = half + int(TERNARY[enemy]) + 2 * int(TERNARY[walls])
        w[COUNT + l] = int(SLIDES[w[INDEX + l]])
        total += w[COUNT + l]
        risk = (enemy >> 1 & hostile >> 2) | (enemy << 1 & hostile << 2)
        if side == 0:
            risk |= king << 1 | king >> 1
        w[RISK + l] = risk
    return total


@jit
def leaves_of_two(s: State, t: State, c: Config, m: int, w: npt.NDArray[np.int64]) -> int:
    """Leaves two plies below `s`, where a quiet move of a soldier changes nothing but lines of sight."""
    if board_result(s, c, m) != 0:
        return 0
    side, k = int(s[SIDE]), int(s[KING])
    total = prepare(s, c, m, w)
    found = 0
    kx, ky, live = k // 9, k % 9, live_bases(s, m)
    king_across, king_along = 0, 0
    if side == 0:
        king_across = bits(king_line(ky, kx, int(s[ky] | s[18 + ky]), live, m))
        king_along = bits(king_line(9 + kx, ky, int(s[9 + kx] | s[27 + kx]), live, m))
    for x in range(9):
        pieces = int(s[18 * side + 9 + x])
        while pieces != 0:
            y = lowest(pieces)
            pieces &= pieces - 1
            start = x * 9 + y
            for turn in range(2):  # 0: along the rank, 1: along the file
                # l, p: the line and the place on it; a place q of it is place `at` of the crossing line `cross + q`.
                if turn == 0:
                    l, p, cross, at, king_l, king_p, king_at = y, x, 9, y, ky, kx, ky
                    king_here, king_there = king_across, king_along
                else:
                    l, p, cross, at, king_l, king_p, king_at = 9 + x, y, 0, x, 9 + kx, ky, kx
                    king_here, king_there = king_along, king_across
                occ = int(s[l] | s[18 + l])
                if start == k:
                    ends = king_line(l, p, occ, live, m)
                else:
                    ends = soldier_line(l, p, occ, side, m)
                crossing = int(s[cross + king_p] | s[18 + cross + king_p])  # the king's other line
                if side == 0 and p == king_p:
                    king_there = bits(king_line(cross + king_p, king_at, crossing ^ (1 << at), live, m))
                index = w[INDEX + l] - POWERS[p]
                rest = total - w[COUNT + l] - w[COUNT + cross + p] + int(SLIDES[w[INDEX + cross + p] - POWERS[at]])
                if start == k:
                    rest = 0
                while ends != 0:
                    q = lowest(ends)
                    ends &= ends - 1
                    if start == k or w[RISK + l] >> q & 1 or w[RISK + cross + q] >> at & 1:
                        end = q * 9 + y if turn == 0 else x * 9 + q
                        found += count_played(s, t, c, m, start * 81 + end)
                        continue
                    found += rest + int(SLIDES[index + POWERS[q]])
                    found += int(SLIDES[w[INDEX + cross + q] + POWERS[at]]) - w[COUNT + cross + q]
                    if side == 1:
                        continue
                    if l == king_l:
                        found += king_there + bits(king_line(l, king_p, occ ^ (1 << p) ^ (1 << q), live, m))
                    elif q == king_p:
                        after = king_line(cross + king_p, king_at, crossing | (1 << at), live, m)
                        found += king_here + bits(after)
                    else:
                        found += king_here + king_there
    return found


@jit
def leaves_below(
    states: npt.NDArray[np.int32],
    buffers: npt.NDArray[np.int64],
    w: npt.NDArray[np.int64],
    c: Config,
    m: int,
    depth: int,
    is_plain: bool,
) -> int:
    """Leaves below the position in row `depth`; the rows under it are scratch."""
    if depth == 2 and is_plain:
        return leaves_of_two(states[2], states[1], c, m, w)
    if depth == 1:
        return count_after(states[1], c, m)
    if board_result(states[depth], c, m) != 0:
        return 0
    found = 0
    for i in range(list_moves(states[depth], m, buffers[depth])):
        play_into(states[depth], c, m, buffers[depth, i], states[depth - 1])
        found += leaves_below(states, buffers, w, c, m, depth - 1, is_plain)
    return found


@jit
def perft(state: State, config: Config, depth: int) -> int:
    """Leaves at exactly `depth` plies; see `Kernel.perft`."""
    if depth < 1:
        return 1
    m = movement(config)
    states = np.empty((depth + 1, STATE_SIZE), np.int32)
    buffers = np.empty((depth + 1, MAX_MOVES), np.int64)
    for i in range(STATE_SIZE):
        states[depth, i] = state[i]
    is_plain = m & (CAMPS_CLOSED | ONLY_OCCUPIED) == 0 and config[TUICHI_WINS] == 0
    return leaves_below(states, buffers, np.empty(WORK_SIZE, np.int64), config, m, depth, is_plain)
