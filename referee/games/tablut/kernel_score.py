"""A static evaluation of Tablut: material, the king's free ways now and one move on, how nearly he is ringed.

Refuses to know search.
"""

from __future__ import annotations

import numpy as np

from referee.games.tablut.config import FIRST_PLAYER
from referee.games.tablut.kernel_board import (
    KING,
    SIDE,
    bits,
    board_result,
    free_ways,
    hostile_to_king,
    is_shut,
    king_reach,
    line_moves,
    needs_four,
    soldier_reach,
    ways_from,
)
from referee.games.tablut.tables import SIGHT
from referee.jit import ctz, jit
from referee.rules import Config, State

DECIDED = 19_000
ESCAPE = 15_000  # the defenders are to move and the king has a free way; or the attackers can take him
OPEN_TWICE = 6_000  # two ways at once: hardly to be closed by one move
SOLDIER, ATTACKER = 150, 75


DOUBLE_THREAT = 1_500  # the king, on move, has a move that opens two ways
THREATENED = 250  # the attackers would take the king if the defenders passed
RAICHI = 200  # one way open and the attackers on move
NEXT_WAY = 20  # each cell from which the king would have a way
KING_MOVE = 5


@jit
def is_reachable(s: State, c: Config, x: int, y: int) -> bool:
    """Whether an attacker can move to the cell on file `x`, rank `y` now."""
    cell = x * 9 + y
    if cell == 40 or (s[y] | s[18 + y]) >> x & 1:
        return False
    across = int(SIGHT[x * 512 + (s[y] | s[18 + y])]) & int(s[y])
    while across != 0:
        p = ctz(np.uint64(across))
        across &= across - 1
        if soldier_reach(s, c, y, p, 0) >> x & 1:
            return True
    along = int(SIGHT[y * 512 + (s[9 + x] | s[27 + x])]) & int(s[9 + x])
    while along != 0:
        p = ctz(np.uint64(along))
        along &= along - 1
        if soldier_reach(s, c, 9 + x, p, 0) >> y & 1:
            return True
    return False


@jit
def is_king_in_danger(s: State, c: Config) -> bool:
    """Whether an attacker can take the king with one move."""
    x, y = int(s[KING] // 9), int(s[KING] % 9)
    if needs_four(s, c):
        gaps, gap_x, gap_y = 0, -1, -1
        for way in range(4):
            dx = (way == 0) - (way == 1)
            dy = (way == 2) - (way == 3)
            l, p = (y, x + dx) if way < 2 else (9 + x, y + dy)
            if not is_shut(s, c, l, p):
                gaps, gap_x, gap_y = gaps + 1, x + dx, y + dy
        return gaps == 1 and 0 <= gap_x <= 8 and 0 <= gap_y <= 8 and is_reachable(s, c, gap_x, gap_y)
    across, along = hostile_to_king(s, c, y), hostile_to_king(s, c, 9 + x)
    if 1 <= x <= 7:
        if across >> (x - 1) & 1 and is_reachable(s, c, x + 1, y):
            return True
        if across >> (x + 1) & 1 and is_reachable(s, c, x - 1, y):
            return True
    if 1 <= y <= 7:
        if along >> (y - 1) & 1 and is_reachable(s, c, x, y + 1):
            return True
        if along >> (y + 1) & 1 and is_reachable(s, c, x, y - 1):
            return True
    return False


@jit
def defenders_score(s: State, c: Config) -> int:
    """The score from the defenders' point of view."""
    found = board_result(s, c)
    if found != 0:
        return DECIDED if (found % 4 == 2) == (c[FIRST_PLAYER] == 0) else -DECIDED
    x, y = int(s[KING] // 9), int(s[KING] % 9)
    score = 0
    for l in range(9):
        score += SOLDIER * bits(s[18 + l]) - ATTACKER * bits(s[l])
    score += ATTACKER * 16 - SOLDIER * 9  # level at the start, the king being among the defenders' bits
    for l in range(18):
        score += line_moves(s, c, l, 1) - line_moves(s, c, l, 0)
    ways = free_ways(s, c)
    is_in_danger = is_king_in_danger(s, c)
    if s[SIDE] == 1:
        if ways > 0:
            return ESCAPE + score
        if is_in_danger:
            score -= THREATENED
    else:
        if is_in_danger:
            return score - ESCAPE
        if ways > 1:
            return score + OPEN_TWICE
        score += RAICHI * ways
    shut = 0
    shut += is_shut(s, c, y, x - 1)
    shut += is_shut(s, c, y, x + 1)
    shut += is_shut(s, c, 9 + x, y - 1)
    shut += is_shut(s, c, 9 + x, y + 1)
    score -= 12 * shut * shut
    return score + prospects(s, c, x, y)


@jit
def prospects(s: State, c: Config, x: int, y: int) -> int:
    """What the king's moves promise: their number, and the ways he would have after them."""
    score, best = 0, 0
    across, along = king_reach(s, c, y, x), king_reach(s, c, 9 + x, y)
    while across != 0:
        ways = ways_from(s, c, ctz(np.uint64(across)), y)
        across &= across - 1
        score += KING_MOVE + (NEXT_WAY if ways > 0 else 0)
        best = max(best, ways)
    while along != 0:
        ways = ways_from(s, c, x, ctz(np.uint64(along)))
        along &= along - 1
        score += KING_MOVE + (NEXT_WAY if ways > 0 else 0)
        best = max(best, ways)
    if best > 1:
        score += DOUBLE_THREAT if s[SIDE] == 1 else NEXT_WAY * 5
    return score


@jit
def evaluate(state: State, config: Config) -> int:
    """A static score for the side to move, in hundredths of an average soldier; see `Kernel.evaluate`."""
    score = defenders_score(state, config)
    return score if state[SIDE] == 1 else -score
