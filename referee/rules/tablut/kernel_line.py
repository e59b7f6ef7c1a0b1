"""Moves of the pieces of Tablut along one line, computed on plain numbers.

No function takes an array except the options: passing arrays between compiled functions costs reference counting, more
than the work itself. The options about movement are packed into one number, the movement word `m`, once per call.

Letters: l line, p place (bit number) on it, occ the occupied places, m movement word.
"""

from __future__ import annotations

import numpy as np

from referee.rules.jit import borrowing, popcount
from referee.rules.rules import Config
from referee.rules.tablut.state import (
    CAMP_ENTRY,
    CLOSED,
    FORBIDDEN,
    GOAL,
    KING_BASES,
    KING_BASES_WHEN,
    KING_MAX_STEP,
    KING_REENTER,
    OCCUPIED,
    PASS_ALL,
    PASS_NONE,
    THRONE_PASS,
)
from referee.rules.tablut.tables import BARRED, BASES, GOALS, OWN_BASE, PASSING, SIGHT, SLIDES, STEPS, TERNARY

# The bits of a movement word; the bits above them hold the king's longest step.
SOLDIERS_GLIDE = 1  # over the empty throne
KING_STOPPED = 2  # may not glide over the throne
KING_OUT = 4  # may not stop on the throne
CAMPS_CLOSED = 8
KING_SHUT = 16  # may not stop on barred bases
KING_WALLED = 32  # may not pass over barred bases
ONLY_OCCUPIED = 64  # a base is barred only while an attacker is in it
OFF_BASES = 128  # base cells are not goals
STEP_SHIFT = 8

MIDDLE = 16  # bit 4: the throne on rank 5 (line 4) and on file e (line 13)
ALL_BASES = 15


@borrowing
def movement(c: Config) -> int:
    """Return the movement word of a configuration."""
    m = int(c[KING_MAX_STEP]) << STEP_SHIFT
    if c[THRONE_PASS] == PASS_ALL:
        m |= SOLDIERS_GLIDE
    if c[THRONE_PASS] == PASS_NONE:
        m |= KING_STOPPED
    if c[KING_REENTER] == 0:
        m |= KING_OUT
    if c[GOAL] == 1:
        m |= OFF_BASES
    if c[CAMP_ENTRY] == CLOSED:
        return m | CAMPS_CLOSED | KING_SHUT | KING_WALLED
    if c[KING_BASES] != 0:
        m |= KING_SHUT
        if c[KING_BASES] == FORBIDDEN:
            m |= KING_WALLED
        if c[KING_BASES_WHEN] == OCCUPIED:
            m |= ONLY_OCCUPIED
    return m


@borrowing
def bits(b: int) -> int:
    return popcount(np.uint64(b))  # type: ignore[no-any-return]


@borrowing
def soldier_line(l: int, p: int, occ: int, side: int, m: int) -> int:
    """Return the places a soldier of `side` on place `p` of line `l` may move to."""
    walls, shut = occ, 0
    if l == 4 or l == 13:
        shut = MIDDLE
        if m & SOLDIERS_GLIDE == 0:
            walls |= MIDDLE
    if m & CAMPS_CLOSED:
        walls |= int(BASES[l])
        if side == 0:
            # An attacker in a closed base may move inside that base.
            walls &= ~int(OWN_BASE[l * 9 + p]) | occ
    return int(SIGHT[p * 512 + walls]) & ~(walls | shut)


@borrowing
def count_line(l: int, own: int, occ: int, side: int, m: int) -> int:
    """Return the number of moves of the soldiers `own` of `side` along line `l`."""
    walls, half, count = occ & ~own, 0, 0
    if l == 4 or l == 13:
        if m & SOLDIERS_GLIDE:
            half = PASSING
        else:
            walls |= MIDDLE
    if m & CAMPS_CLOSED:
        inside = own & int(BASES[l])
        if inside != 0:
            for p in range(9):
                if inside >> p & 1:
                    count += bits(soldier_line(l, p, occ, side, m))
            # Soldiers inside a closed camp may move within it, unlike the others: they are counted one by one.
            own &= ~inside
        walls |= int(BASES[l])
    return count + int(SLIDES[np.uint64(half + int(TERNARY[np.uint64(own)]) + 2 * int(TERNARY[np.uint64(walls)]))])


@borrowing
def king_line(l: int, p: int, occ: int, live: int, m: int) -> int:
    """Return the places a king on place `p` of line `l` may move to; `live` has a bit for every barred base."""
    # Where the king may not stop he may still pass over, so the two sets differ.
    walls = shut = occ
    if l == 4 or l == 13:
        if m & KING_OUT:
            shut |= MIDDLE
        if m & KING_STOPPED:
            walls |= MIDDLE
    if m & KING_SHUT:
        barred = int(BARRED[live * 18 + l])
        shut |= barred
        if m & KING_WALLED:
            walls |= barred
    return int(SIGHT[p * 512 + walls]) & ~shut & int(STEPS[(m >> STEP_SHIFT) * 9 + p])


@borrowing
def goals(l: int, m: int) -> int:
    """Return the places of line `l` on which the king wins."""
    return int(GOALS[18 + l]) if m & OFF_BASES else int(GOALS[l])


@borrowing
def ways_from(x: int, y: int, across: int, along: int, live: int, m: int) -> int:
    """Return the number of directions in which a king on file `x`, rank `y` has a move to a goal.

    `across` and `along` are the occupied places of that rank and that file.
    """
    east_west = king_line(y, x, across, live, m) & goals(y, m)
    north_south = king_line(9 + x, y, along, live, m) & goals(9 + x, m)
    left, below = (1 << x) - 1, (1 << y) - 1
    ways = 0
    if east_west & left:
        ways += 1
    if east_west & ~left:
        ways += 1
    if north_south & below:
        ways += 1
    if north_south & ~below:
        ways += 1
    return ways
