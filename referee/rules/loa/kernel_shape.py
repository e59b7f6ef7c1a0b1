"""Measures how far the pieces of a side are from forming one group, for the static evaluation.

Letters as in `kernel_ternary` and `kernel_lines`; `k` number of pieces, `sr sf` sums of ranks and files, `cr cf` their
centre in sixteenths of a square. Moves and the opponent do not matter here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from referee.rules.jit import ctz, jit, popcount
from referee.rules.loa.kernel_lines import filled, seed
from referee.rules.loa.kernel_ternary import filled8

U0, U1 = np.uint64(0), np.uint64(1)

DISTANCE, GROUP = 6, 8
"""Penalty per 1/16 king's step of mean distance to the centre of the pieces, and per group. Both were tuned in matches
of two-ply searches.
"""


@jit
def untidy(distance: int, k: int, groups: int) -> int:
    """Return the penalty of `k` pieces in `groups` groups, with `distance` as the sum of their distances to their
    centre.
    """
    return DISTANCE * distance // k + GROUP * groups


@jit
def shape8(a: Any) -> int:
    """Return the penalty of the pieces `a` of the 8x8 board; 0 for at most one group."""
    k = popcount(a)
    part = filled8(a, a & (~a + U1))
    if part == a:
        return 0
    groups = 1
    rest = a & ~part
    while rest != U0:
        part = filled8(rest, rest & (~rest + U1))
        rest &= ~part
        groups += 1
    sr, sf = 0, 0
    rest = a
    while rest != U0:
        i = ctz(rest)
        sr += i >> 3
        sf += i & 7
        rest &= rest - U1
    cr, cf = 16 * sr // k, 16 * sf // k
    # Not 0: of a literal numba would compile `untidy` once more.
    distance = k - k
    rest = a
    while rest != U0:
        i = ctz(rest)
        distance += max(abs(16 * (i >> 3) - cr), abs(16 * (i & 7) - cf))
        rest &= rest - U1
    return untidy(distance, k, groups)


@jit
def shape_lines(a0: Any, a1: Any, a2: Any) -> int:
    """Return the penalty of the pieces of a larger board, in three words of four ranks; 0 for at most one group."""
    k = popcount(a0) + popcount(a1) + popcount(a2)
    r0, r1, r2 = a0, a1, a2
    groups = 0
    while r0 != U0 or r1 != U0 or r2 != U0:
        s0, s1, s2 = seed(r0, r1, r2)
        s0, s1, s2 = filled(r0, r1, r2, s0, s1, s2)
        r0, r1, r2 = r0 & ~s0, r1 & ~s1, r2 & ~s2
        groups += 1
    if groups < 2:
        return 0
    sr, sf = 0, 0
    for w in range(3):
        rest = a0 if w == 0 else (a1 if w == 1 else a2)
        while rest != U0:
            i = ctz(rest)
            sr += 4 * w + (i >> 4)
            sf += i & 15
            rest &= rest - U1
    cr, cf = 16 * sr // k, 16 * sf // k
    distance = k - k
    for w in range(3):
        rest = a0 if w == 0 else (a1 if w == 1 else a2)
        while rest != U0:
            i = ctz(rest)
            distance += max(abs(16 * (4 * w + (i >> 4)) - cr), abs(16 * (i & 15) - cf))
            rest &= rest - U1
    return untidy(distance, k, groups)
