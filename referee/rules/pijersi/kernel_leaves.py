"""Counting turns without listing them, many positions at a time.

How many turns a side Y has depends on Y's own cubes, on which cells are empty, and on where the prey of Y's rocks,
papers and scissors stands. Over all quiet turns of X before it, Y's own cubes stay put; so they are turned into
weights once, and every position after a turn of X costs a few dozen bit operations on (empty cells, X's rocks, X's
papers, X's scissors), in loops without branches that the compiler turns into vector code.

Sets of small numbers are kept as bit planes: plane j holds bit j of each cell's number.

Letters: R P S W = cubes on top by role; E = empty cells; b = bases, see `_weights`; s m f = start, mid, third cell.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from referee.rules.jit import ctz, jit, popcount
from referee.rules.pijersi.kernel_turns import stack_targets
from referee.rules.pijersi.state import BOTTOMS, PHASE
from referee.rules.pijersi.tables import ALL_CELLS, CELL_COUNT, EDGE, NEAR, ROW_A, ROW_G, STEP_BITS

MAX_TURNS = 4096
"""More than any position has: a stack has at most 6 + 6 * 14 = 90 turns, a single cube 6 * 13, and cells are 45."""

assert MAX_TURNS > 90 * CELL_COUNT

ZERO = np.int64(0)
"""Also the empty set. A bare 0 as an argument would compile the callee once more, for the literal."""

_SW, _SE, _WEST, _EAST, _NW, _NE = (int(edge) for edge in EDGE)


@jit
def _add3(a: Any, b: Any, c: Any) -> Any:
    """(sum, carry) planes of three one-bit numbers."""
    x = a ^ b
    return x ^ c, (a & b) | (x & c)


@jit
def _add6(a: Any, b: Any, c: Any, d: Any, e: Any, f: Any) -> Any:
    """The three planes of the sum of six one-bit numbers."""
    x, p = _add3(a, b, c)
    y, q = _add3(d, e, f)
    t, u = _add3(p, q, x & y)
    return x ^ y, t, u


@jit
def _near_count(z: Any) -> Any:
    """How many neighbours of each cell are in `z`, as three planes."""
    return _add6(
        (z & _SW) >> 7,
        (z & _SE) >> 6,
        (z & _WEST) >> 1,
        (z & _EAST) << 1,
        (z & _NW) << 6,
        (z & _NE) << 7,
    )


@jit
def _weights(a: Any, wise: Any, joins: Any, wise_joins: Any, stacks: Any, w: Any, b: Any) -> Any:
    """Fill w[0:6], b[0:3] for the pieces `a` (no wise) and `wise`; return the turns that depend on no other cell.

    b = for each cell how many stacks may set out from it: 1 on an own stack, and on a single cube the number of
    neighbours that may climb it (`joins` under rock, paper and scissors, `wise_joins` under a wise).
    w = for each cell how many turns it allows by itself when it may be entered: one per neighbouring piece, one per
    base beside it, one per neighbouring stack (its top may step back from there), and one per single cube that climbed
    the next cell and runs back over its own old cell to here.
    Returned: climbing turns, and runs back onto the cell that a single cube has just left.
    """
    pieces = a | wise
    n0, n1, n2 = _near_count(pieces)
    r0, r1, r2 = _near_count(a)
    plain = joins & ~wise_joins
    b0 = (n0 & wise_joins) | (r0 & plain)
    b1 = (n1 & wise_joins) | (r1 & plain)
    b2 = (n2 & wise_joins) | (r2 & plain)
    fixed = popcount(b0) + 2 * popcount(b1) + 4 * popcount(b2)
    c = a & ~stacks
    g = wise & ~stacks
    x0 = (c & ((joins & _SW) >> 7)) | (g & ((wise_joins & _SW) >> 7))
    x1 = (c & ((joins & _SE) >> 6)) | (g & ((wise_joins & _SE) >> 6))
    x2 = (c & ((joins & _WEST) >> 1)) | (g & ((wise_joins & _WEST) >> 1))
    x3 = (c & ((joins & _EAST) << 1)) | (g & ((wise_joins & _EAST) << 1))
    x4 = (c & ((joins & _NW) << 6)) | (g & ((wise_joins & _NW) << 6))
    x5 = (c & ((joins & _NE) << 7)) | (g & ((wise_joins & _NE) << 7))
    fixed += popcount(x0) + popcount(x1) + popcount(x2) + popcount(x3) + popcount(x4) + popcount(x5)
    y0, y1, y2 = _add6(
        (x0 & _SW) >> 7,
        (x1 & _SE) >> 6,
        (x2 & _WEST) >> 1,
        (x3 & _EAST) << 1,
        (x4 & _NW) << 6,
        (x5 & _NE) << 7,
    )
    own = pieces & stacks
    k0, k1, k2 = _near_count(own)
    b0 |= own
    p0, p1, p2 = _near_count(b0)
    q0, q1, q2 = _near_count(b1)
    t0, t1, t2 = _near_count(b2)
    # The sum n + y + k + p + 2 q + 4 t, at most 6 + 6 + 6 + 36, plane by plane.
    s, c1 = _add3(n0, y0, k0)
    w[0] = s ^ p0
    c2 = s & p0
    s, d1 = _add3(n1, y1, k1)
    u, d2 = _add3(p1, q0, c1)
    w[1], d3 = _add3(s, u, c2)
    s, e1 = _add3(n2, y2, k2)
    u, e2 = _add3(p2, q1, t0)
    v, e3 = _add3(d1, d2, d3)
    w[2], e4 = _add3(s, u, v)
    s, f1 = _add3(q2, t1, e1)
    u, f2 = _add3(e2, e3, e4)
    w[3] = s ^ u
    f3 = s & u
    s, g1 = _add3(t2, f1, f2)
    w[4] = s ^ f3
    w[5] = g1 ^ (s & f3)
    b[0] = b0
    b[1] = b1
    b[2] = b2
    return fixed


@jit
def tally(batch: Any, low: Any, high: Any, R: Any, P: Any, S: Any, W: Any, stacks: Any, w: Any, b: Any) -> Any:
    """The turns of the side with these tops and stacks, summed over the positions `batch[:, low:high]`.

    Rows of `batch`: empty cells, then the other side's rocks, papers and scissors (tops). `w` (4 x 6) and `b` (4 x 3)
    are scratch. Neither side stands on its goal row, which is the caller's care.
    """
    n = high - low
    # Slices, because a loop from 0 is known never to wrap round and becomes vector code; one from `low` does not.
    empty = batch[0, low:high]
    rocks = batch[1, low:high]
    papers = batch[2, low:high]
    scissors = batch[3, low:high]
    joins = (R | P | S | W) & ~stacks
    wise_joins = W & ~stacks
    total = _weights(R | P | S, W, joins, wise_joins, stacks, w[0], b[0]) * n
    _weights(R, ZERO, joins, ZERO, stacks, w[1], b[1])
    _weights(P, ZERO, joins, ZERO, stacks, w[2], b[2])
    _weights(S, ZERO, joins, ZERO, stacks, w[3], b[3])
    for j in range(6):
        wE = w[0, j]
        wR = w[1, j]
        wP = w[2, j]
        wS = w[3, j]
        if wE | wR | wP | wS:
            t = 0
            for k in range(n):
                t += popcount((empty[k] & wE) | (scissors[k] & wR) | (rocks[k] & wP) | (papers[k] & wS))
            total += t << j
    # Stacks going two cells: from a base over an empty cell x to the cell behind it.
    for j in range(3):
        bE = b[0, j]
        bR = b[1, j]
        bP = b[2, j]
        bS = b[3, j]
        if bE | bR | bP | bS:
            t = 0
            for d in range(3, 6):
                shift = 7 if d == 5 else (6 if d == 4 else 1)
                up = EDGE[d]
                down = EDGE[5 - d]
                uE = ((bE & up) << shift) & up
                uR = ((bR & up) << shift) & up
                uP = ((bP & up) << shift) & up
                uS = ((bS & up) << shift) & up
                dE = ((bE & down) >> shift) & down
                dR = ((bR & down) >> shift) & down
                dP = ((bP & down) >> shift) & down
                dS = ((bS & down) >> shift) & down
                for k in range(n):
                    x = empty[k]
                    r = rocks[k]
                    p = papers[k]
                    s = scissors[k]
                    t += popcount(
                        x & (((x >> shift) & uE) | ((s >> shift) & uR) | ((r >> shift) & uP) | ((p >> shift) & uS))
                    )
                    t += popcount(
                        x & (((x << shift) & dE) | ((s << shift) & dR) | ((r << shift) & dP) | ((p << shift) & dS))
                    )
            total += t << j
    # Stacks going anywhere, then their top one step on: to a cell it may enter or an own cube it may climb.
    left = stacks & (R | P | S | W)
    while left:
        bit = left & -left
        left ^= bit
        s = ctz(bit)
        prey = empty  # a wise has none: counting the empty cells twice does no harm
        climb = joins
        if R & bit:
            prey = scissors
        elif P & bit:
            prey = rocks
        elif S & bit:
            prey = papers
        else:
            climb = wise_joins
        near = NEAR[s]
        s0 = STEP_BITS[s, 0] & _SW
        s1 = STEP_BITS[s, 1] & _SE
        s2 = STEP_BITS[s, 2] & _WEST
        s3 = STEP_BITS[s, 3] & _EAST
        s4 = STEP_BITS[s, 4] & _NW
        s5 = STEP_BITS[s, 5] & _NE
        t0 = 0
        t1 = 0
        t2 = 0
        for k in range(n):
            x = empty[k]
            landing = x | prey[k]
            far = (
                ((x & s0) >> 7)
                | ((x & s1) >> 6)
                | ((x & s2) >> 1)
                | ((x & s3) << 1)
                | ((x & s4) << 6)
                | ((x & s5) << 7)
            )
            reach = (near | far) & landing
            c0, c1, c2 = _near_count(landing | climb)
            t0 += popcount(reach & c0)
            t1 += popcount(reach & c1)
            t2 += popcount(reach & c2)
        total += t0 + 2 * t1 + 4 * t2
    return total


@jit
def count_turns(state: Any) -> Any:
    """The number of turns of the side to move; the position is not won and not in the swap phase."""
    own = 4 * (state[PHASE] & 1)
    foe = 4 - own
    batch = np.empty((4, 1), dtype=np.int64)
    theirs = state[foe] | state[foe + 1] | state[foe + 2] | state[foe + 3]
    mine = state[own] | state[own + 1] | state[own + 2] | state[own + 3]
    batch[0, 0] = ALL_CELLS & ~(mine | theirs)
    batch[1, 0] = state[foe]
    batch[2, 0] = state[foe + 1]
    batch[3, 0] = state[foe + 2]
    stacks = state[BOTTOMS] | state[BOTTOMS + 1] | state[BOTTOMS + 2] | state[BOTTOMS + 3]
    w = np.empty((4, 6), dtype=np.int64)
    b = np.empty((4, 3), dtype=np.int64)
    return tally(batch, ZERO, ZERO + 1, state[own], state[own + 1], state[own + 2], state[own + 3], stacks & mine, w, b)


@jit
def _enter(batch: Any, n: Any, targets: Any, E: Any, R: Any, P: Any, S: Any, mR: Any, mP: Any, mS: Any) -> Any:
    """Append the positions in which the piece in hand, of the role with mask -1, stands on one of the empty targets."""
    while targets:
        x = targets & -targets
        targets ^= x
        batch[0, n] = E ^ x
        batch[1, n] = R | (x & mR)
        batch[2, n] = P | (x & mP)
        batch[3, n] = S | (x & mS)
        n += 1
    return n


@jit
def _climb(batch: Any, n: Any, targets: Any, E: Any, R: Any, P: Any, S: Any, mR: Any, mP: Any, mS: Any) -> Any:
    """The same for own cubes that it climbs."""
    while targets:
        x = targets & -targets
        targets ^= x
        batch[0, n] = E
        batch[1, n] = (R & ~x) | (x & mR)
        batch[2, n] = (P & ~x) | (x & mP)
        batch[3, n] = (S & ~x) | (x & mS)
        n += 1
    return n


@jit
def _take(
    batch: Any, n: Any, targets: Any, E: Any, R: Any, P: Any, S: Any, mR: Any, mP: Any, mS: Any, taken: Any
) -> Any:
    """The same for enemies that it takes; row 4 holds the cells of all enemies taken in the turn."""
    while targets:
        x = targets & -targets
        targets ^= x
        batch[0, n] = E
        batch[1, n] = R | (x & mR)
        batch[2, n] = P | (x & mP)
        batch[3, n] = S | (x & mS)
        batch[4, n] = taken | x
        n += 1
    return n


@jit
def two_plies(state: Any, quiet: Any, catches: Any, w: Any, b: Any) -> Any:
    """The number of turns of both sides in succession: the answers to each turn, summed.

    Positions won by the first turn have no answer, so turns that end on the goal row are not even made. `quiet` (4 rows)
    and `catches` (5 rows) of MAX_TURNS columns are scratch, as are `w` and `b` of `tally`.
    """
    side = state[PHASE] & 1
    own = 4 * side
    foe = 4 - own
    R = state[own]
    P = state[own + 1]
    S = state[own + 2]
    W = state[own + 3]
    yR = state[foe]
    yP = state[foe + 1]
    yS = state[foe + 2]
    yW = state[foe + 3]
    lowR = state[BOTTOMS]
    lowP = state[BOTTOMS + 1]
    lowS = state[BOTTOMS + 2]
    stacks = lowR | lowP | lowS | state[BOTTOMS + 3]
    mine = R | P | S | W
    empty = ALL_CELLS & ~(mine | yR | yP | yS | yW)
    singles = mine & ~stacks
    no_goal = ALL_CELLS & ~(ROW_A if side else ROW_G)
    n = ZERO
    c = ZERO
    left = mine
    while left:
        bit = left & -left
        left ^= bit
        s = ctz(bit)
        mR = 0
        mP = 0
        mS = 0
        prey = 0
        joins = singles
        fair = no_goal
        if R & bit:
            mR = -1
            prey = yS
        elif P & bit:
            mP = -1
            prey = yR
        elif S & bit:
            mS = -1
            prey = yP
        else:
            joins &= W
            fair = ALL_CELLS
        near = NEAR[s]
        hR = R & ~bit  # the board without what starts here
        hP = P & ~bit
        hS = S & ~bit
        vacated = empty | bit
        if singles & bit:
            free = vacated
            uR = hR
            uP = hP
            uS = hS
        else:
            free = empty
            kR = -1 if lowR & bit else 0
            kP = -1 if lowP & bit else 0
            kS = -1 if lowS & bit else 0
            uR = hR | (bit & kR)  # the board with the bottom cube left alone
            uP = hP | (bit & kP)
            uS = hS | (bit & kS)
            low_fair = no_goal if kR | kP | kS else ALL_CELLS
            mids = stack_targets(s, empty, empty | prey)
            while mids:
                step = mids & -mids
                mids ^= step
                around = NEAR[ctz(step)] & fair
                E = vacated & ~step
                bR = hR | (step & kR)
                bP = hP | (step & kP)
                bS = hS | (step & kS)
                taken = step & prey
                if taken:
                    if step & fair:
                        c = _take(catches, c, step, E, hR, hP, hS, mR, mP, mS, ZERO)
                    if step & low_fair:
                        m = c
                        c = _enter(catches, c, around & vacated, E, bR, bP, bS, mR, mP, mS)
                        c = _climb(catches, c, around & joins, E, bR, bP, bS, mR, mP, mS)
                        for k in range(m, c):
                            catches[4, k] = taken
                        c = _take(catches, c, around & prey & ~step, E, bR, bP, bS, mR, mP, mS, taken)
                else:
                    if step & fair:
                        n = _enter(quiet, n, step, vacated, hR, hP, hS, mR, mP, mS)
                    if step & low_fair:
                        n = _enter(quiet, n, around & vacated, E, bR, bP, bS, mR, mP, mS)
                        n = _climb(quiet, n, around & joins, E, bR, bP, bS, mR, mP, mS)
                        c = _take(catches, c, around & prey, E, bR, bP, bS, mR, mP, mS, ZERO)
        n = _enter(quiet, n, near & empty & fair, free, uR, uP, uS, mR, mP, mS)
        c = _take(catches, c, near & prey & fair, free, uR, uP, uS, mR, mP, mS, ZERO)
        mids = near & joins
        n = _climb(quiet, n, mids & fair, free, uR, uP, uS, mR, mP, mS)
        while mids:
            step = mids & -mids
            mids ^= step
            targets = stack_targets(ctz(step), free, free | prey) & fair
            bR = uR & ~step
            bP = uP & ~step
            bS = uS & ~step
            n = _enter(quiet, n, targets & free, free | step, bR, bP, bS, mR, mP, mS)
            c = _take(catches, c, targets & prey, free | step, bR, bP, bS, mR, mP, mS, ZERO)
    theirs = yR | yP | yS | yW
    total = tally(quiet, ZERO, n, yR, yP, yS, yW, stacks & theirs, w, b)
    low = ZERO
    while low < c:  # what was taken changes the weights: one batch for each set of taken cells
        taken = catches[4, low]
        high = low + 1
        for k in range(high, c):
            if catches[4, k] == taken:
                for row in range(5):
                    catches[row, k], catches[row, high] = catches[row, high], catches[row, k]
                high += 1
        rest = ~taken
        total += tally(catches, low, high, yR & rest, yP & rest, yS & rest, yW & rest, stacks & theirs & rest, w, b)
        low = high
    return total
