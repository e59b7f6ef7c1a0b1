"""A static evaluation of Tablut: material, the king's free ways now and after one move, and his hostile neighbours.

It does not search. Letters as in `kernel_board`.
"""

from __future__ import annotations

import numpy as np

from referee.rules.jit import borrowing
from referee.rules.rules import Config, State
from referee.rules.tablut.kernel_board import board_result, count_shut, live_bases, needs_four
from referee.rules.tablut.kernel_line import (
    CAMPS_CLOSED,
    MIDDLE,
    SOLDIERS_GLIDE,
    bits,
    count_line,
    king_line,
    movement,
    soldier_line,
    ways_from,
)
from referee.rules.tablut.kernel_move import lowest
from referee.rules.tablut.state import ASHTON, CAMP_HOSTILE, FIRST_PLAYER, KING, KING_CAPTURE, KING_EDGE_CAPTURE, SIDE
from referee.rules.tablut.tables import BASES, LEADS, PASSING, SIGHT, TERNARY, THRONE

DECIDED = 19_000
ESCAPE = 15_000  # the defenders are to move and the king has a free way, or the attackers can capture him
OPEN_TWICE = 6_000  # two ways at once, which one move can hardly close
SOLDIER, ATTACKER = 150, 75
DOUBLE_THREAT = 1_500  # the king is to move and can open two ways
THREATENED = 250  # the attackers would capture the king if the defenders passed
RAICHI = 200  # one way is open and the attackers are to move
NEXT_WAY = 20  # per cell from which the king would have a way
KING_MOVE = 5
SHUT = 12  # times the square of the number of hostile neighbours


@borrowing
def is_line_reached(l: int, p: int, attackers: int, occ: int, m: int) -> bool:
    """Return whether one of the `attackers` on line `l` can move to place `p` of it."""
    seen = int(SIGHT[p * 512 + occ]) & attackers
    while seen != 0:
        if soldier_line(l, lowest(seen), occ, 0, m) >> p & 1:
            return True
        seen &= seen - 1
    return False


@borrowing
def is_reached(s: State, m: int, x: int, y: int) -> bool:
    """Return whether an attacker can move to the cell on file `x`, rank `y`, which may be off the board."""
    if x < 0 or x > 8 or y < 0 or y > 8 or x * 9 + y == THRONE:
        return False
    across, along = int(s[y] | s[18 + y]), int(s[9 + x] | s[27 + x])
    if across >> x & 1:
        return False
    return is_line_reached(y, x, int(s[y]), across, m) or is_line_reached(9 + x, y, int(s[9 + x]), along, m)


@borrowing
def is_king_in_danger(s: State, c: Config, m: int, shut: int) -> bool:
    """Return whether an attacker can capture the king with one move; `shut` is the number of his hostile neighbours."""
    k = int(s[KING])
    x, y = k // 9, k % 9
    four = needs_four(k, int(c[KING_CAPTURE]))
    # With four hostile neighbours required, one move can add only the fourth.
    if four and shut != 3:
        return False
    across, along = int(s[y]), int(s[9 + x])
    if c[CAMP_HOSTILE] == ASHTON:
        across, along = across | int(BASES[y]), along | int(BASES[9 + x])
    if four:
        # An attacker must enter the king's only neighbour that is not hostile; the empty throne is hostile.
        if k != THRONE:
            across |= MIDDLE if y == 4 else 0
            along |= MIDDLE if x == 4 else 0
    for way in range(4):
        turn, step = way >> 1, 1 - 2 * (way & 1)
        line, p = (along, y) if turn else (across, x)
        gap, opposite = p + step, p - step
        if gap < 0 or gap > 8 or line >> gap & 1:
            continue
        if not four and (opposite < 0 or opposite > 8 or not line >> opposite & 1):
            continue
        if is_reached(s, m, x if turn else gap, gap if turn else y):
            return True
    return False


@borrowing
def prospects(s: State, m: int, x: int, y: int, live: int) -> int:
    """Score the king's moves: their number, and the free ways he would have after them."""
    score, best = 0, 0
    across = king_line(y, x, int(s[y] | s[18 + y]), live, m)
    while across != 0:
        to = lowest(across)
        across &= across - 1
        ways = ways_from(to, y, int(s[y] | s[18 + y]), int(s[9 + to] | s[27 + to]), live, m)
        score += KING_MOVE + (NEXT_WAY if ways > 0 else 0)
        best = max(best, ways)
    along = king_line(9 + x, y, int(s[9 + x] | s[27 + x]), live, m)
    while along != 0:
        to = lowest(along)
        along &= along - 1
        ways = ways_from(x, to, int(s[to] | s[18 + to]), int(s[9 + x] | s[27 + x]), live, m)
        score += KING_MOVE + (NEXT_WAY if ways > 0 else 0)
        best = max(best, ways)
    if best > 1:
        score += DOUBLE_THREAT if s[SIDE] == 1 else NEXT_WAY * 5
    return score


@borrowing
def lead_on_line(l: int, attackers: int, defenders: int, king: int, m: int) -> int:
    """Return the number of moves of the defenders along line `l` minus that of the attackers.

    `king` is the king's bit, or 0 if he is elsewhere. It is among the defenders' bits, and the king's moves do not
    count.
    """
    if king == 0 and m & CAMPS_CLOSED == 0:
        kind = 0
        if l == 4 or l == 13:
            kind = PASSING if m & SOLDIERS_GLIDE else 2 * PASSING
        return int(LEADS[np.uint64(kind + int(TERNARY[np.uint64(defenders)]) + 2 * int(TERNARY[np.uint64(attackers)]))])
    occ = attackers | defenders
    return count_line(l, defenders & ~king, occ, 1, m) - count_line(l, attackers, occ, 0, m)


@borrowing
def defenders_score(s: State, c: Config) -> int:
    m = movement(c)
    code = board_result(s, c, m)
    if code != 0:
        # The defenders are the second player (code 2) if the attackers, side 0, are the first.
        return DECIDED if (code % 4 == 2) == (c[FIRST_PLAYER] == 0) else -DECIDED
    x, y, live = int(s[KING] // 9), int(s[KING] % 9), live_bases(s, m)
    score = ATTACKER * 16 - SOLDIER * 9  # even at the start, where the defenders' bits include the king
    for l in range(9):
        attackers, defenders = int(s[l]), int(s[18 + l])
        score += SOLDIER * bits(defenders) - ATTACKER * bits(attackers)
        score += lead_on_line(l, attackers, defenders, 1 << x if l == y else 0, m)
    for l in range(9, 18):
        score += lead_on_line(l, int(s[l]), int(s[18 + l]), 1 << y if l == 9 + x else 0, m)
    ways = ways_from(x, y, int(s[y] | s[18 + y]), int(s[9 + x] | s[27 + x]), live, m)
    if s[SIDE] == 1 and ways > 0:
        return ESCAPE + score
    shut = count_shut(x, y, int(s[y]), int(s[9 + x]), c[CAMP_HOSTILE] == ASHTON, c[KING_EDGE_CAPTURE] == 1)
    if is_king_in_danger(s, c, m, shut):
        if s[SIDE] == 0:
            return score - ESCAPE
        score -= THREATENED
    if ways > 1:
        return score + OPEN_TWICE
    return score + RAICHI * ways - SHUT * shut * shut + prospects(s, m, x, y, live)


@borrowing
def evaluate(state: State, config: Config) -> int:
    """Return a static score for the side to move, in 1/100 of an average soldier."""
    score = defenders_score(state, config)
    return score if state[SIDE] == 1 else -score
