"""Compiled turns: which ones are legal, and the position after one.

A turn's code is `start << 12 | mid << 6 | end + 1`, with 0 for the end of a turn of two cells. Cells are numbered as
drawn in `tables.py`, so codes ascend as their texts do. A swap is `SWAP | low cell << 6 | high cell`, the pass `SWAP`.

Turns are generated as pairs: a start and a mid cell with the set of all third cells, shifted up by one so that bit 0
stands for "none". One pair often holds a dozen turns, so counting and random choice need not list them.

Letters: R P S W = the mover's cubes on top, by role; s m e = start, mid, end; bit = the start as a set.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from referee.rules.jit import ctz, jit, popcount
from referee.rules.pijersi.state import BOTTOMS, FULL, HALF, PHASE, SWAP, SWAPPING
from referee.rules.pijersi.tables import ALL_CELLS, JUMPS, NEAR, ROW_A, ROW_G

MAX_PAIRS = 600  # at most 13 mid cells (itself, 6 near, 6 two steps away) for each of 45 starts


@jit
def stack_targets(cell: Any, empty: Any, landing: Any) -> Any:
    """Return the targets of a stack on `cell`: one step onto `landing`, or two steps if the cell between is in `empty`."""
    x = (empty << 7) >> cell  # the six neighbours are now bits 0 1 6 8 13 14; neighbours off the board have no jumps
    free = (x & 3) | ((x >> 4) & 4) | ((x >> 5) & 8) | ((x >> 9) & 48)
    return (NEAR[cell] | JUMPS[cell, free]) & landing


@jit
def is_won(state: Any) -> Any:
    """Return 1 if White, 2 if Black has a rock, paper or scissors on the far row, else 0.

    Such a cube is always the top of its stack.
    """
    if (state[0] | state[1] | state[2]) & ROW_G:
        return 1
    if (state[4] | state[5] | state[6]) & ROW_A:
        return 2
    return 0


@jit
def list_pairs(state: Any, starts: Any, thirds: Any) -> Any:
    """Write each pair as `start << 12 | mid << 6`, and its third cells, in ascending order; return the number of pairs.

    The position must not be won or in the swap phase. Both arrays have MAX_PAIRS elements.
    """
    own = 4 * (state[PHASE] & 1)
    R = state[own]
    P = state[own + 1]
    S = state[own + 2]
    W = state[own + 3]
    foe = 4 - own
    foe_r = state[foe]
    foe_p = state[foe + 1]
    foe_s = state[foe + 2]
    mine = R | P | S | W
    empty = ALL_CELLS & ~(mine | foe_r | foe_p | foe_s | state[foe + 3])
    singles = mine & ~(state[BOTTOMS] | state[BOTTOMS + 1] | state[BOTTOMS + 2] | state[BOTTOMS + 3])
    n = 0
    left = mine
    while left:
        s = ctz(left)
        bit = left & -left
        left ^= bit
        near = NEAR[s]
        landing = empty
        joins = singles
        if R & bit:
            landing |= foe_s
        elif P & bit:
            landing |= foe_r
        elif S & bit:
            landing |= foe_p
        else:
            joins &= W
        open_cells = landing | joins
        if singles & bit:
            mids = near & open_cells
            while mids:
                m = ctz(mids)
                step = mids & -mids
                mids ^= step
                starts[n] = (s << 12) | (m << 6)
                if step & joins:
                    # The cube has left its cell, so the new stack may pass over it or return to it.
                    thirds[n] = (stack_targets(m, empty | bit, landing | bit) << 1) | 1
                else:
                    thirds[n] = 1
                n += 1
        else:
            # Once the stack has left, its top cube may step back.
            open_cells |= bit
            mids = stack_targets(s, empty, landing) | (near & joins) | bit
            while mids:
                m = ctz(mids)
                step = mids & -mids
                mids ^= step
                if step == bit:  # the stack stays, and its top cube moves alone
                    third = near & open_cells
                elif step & joins:  # the top cube joins another, and the new stack moves on
                    third = stack_targets(m, empty, landing)
                else:  # the stack moves, and its top cube may stay on it (`step`)
                    third = (NEAR[m] & open_cells) | step
                if third:
                    starts[n] = (s << 12) | (m << 6)
                    thirds[n] = third << 1
                    n += 1
    return n


@jit
def has_turn(state: Any) -> Any:
    """Return whether the side to move has a turn; one legal step of a cube or a stack suffices."""
    own = 4 * (state[PHASE] & 1)
    foe = 4 - own
    R, P, S, W = state[own], state[own + 1], state[own + 2], state[own + 3]
    mine = R | P | S | W
    empty = ALL_CELLS & ~(mine | state[foe] | state[foe + 1] | state[foe + 2] | state[foe + 3])
    singles = mine & ~(state[BOTTOMS] | state[BOTTOMS + 1] | state[BOTTOMS + 2] | state[BOTTOMS + 3])
    left = mine
    while left:
        bit = left & -left
        left ^= bit
        reach = empty | (singles & W)
        if R & bit:
            reach = empty | singles | state[foe + 2]
        elif P & bit:
            reach = empty | singles | state[foe]
        elif S & bit:
            reach = empty | singles | state[foe + 1]
        if NEAR[ctz(bit)] & reach:
            return True
    return False


@jit
def may_block(state: Any, side: Any) -> Any:
    """Return whether a turn of the other side might leave `side` without a turn; False is certain, True is not.

    A turn captures on two cells at most and fills two empty cells at most. So of three cells with pieces of `side` and
    three empty neighbours each, one keeps its piece and an empty neighbour.
    """
    own = 4 * side
    foe = 4 - own
    mine = state[own] | state[own + 1] | state[own + 2] | state[own + 3]
    empty = ALL_CELLS & ~(mine | state[foe] | state[foe + 1] | state[foe + 2] | state[foe + 3])
    free = 0
    while mine:
        if popcount(NEAR[ctz(mine)] & empty) > 2:
            free += 1
            if free == 3:
                return False
        mine &= mine - 1
    return True


@jit
def _clear(out: Any, foe: Any, to: Any) -> Any:
    """Remove the enemy's cube or whole stack, if there is one, from the cell `to`."""
    if (out[foe] | out[foe + 1] | out[foe + 2] | out[foe + 3]) & to:
        for role in range(4):
            out[foe + role] &= ~to
            out[BOTTOMS + role] &= ~to


@jit
def _move_cube(out: Any, own: Any, foe: Any, start: Any, to: Any) -> Any:
    """Move a single cube, or the top of a stack, from `start` to `to` (one-bit sets), on top of an own cube there."""
    _clear(out, foe, to)
    top = 0
    for role in range(4):
        if out[own + role] & start:
            top = role
    out[own + top] ^= start
    for role in range(4):
        if out[BOTTOMS + role] & start:
            out[BOTTOMS + role] ^= start
            out[own + role] |= start
        if out[own + role] & to:
            out[own + role] ^= to
            out[BOTTOMS + role] |= to
    # Set last: the loop pushes down what stood there before.
    out[own + top] |= to


@jit
def _move_stack(out: Any, own: Any, foe: Any, start: Any, to: Any) -> Any:
    """Move both cubes from `start` to `to` (one-bit sets)."""
    _clear(out, foe, to)
    for role in range(4):
        if out[own + role] & start:
            out[own + role] ^= start | to
        if out[BOTTOMS + role] & start:
            out[BOTTOMS + role] ^= start | to


@jit
def play_turn(state: Any, code: Any, out: Any) -> Any:
    """Write the position after a turn or a swap, which must be legal, to `out`."""
    for place in range(state.size):
        out[place] = state[place]
    side = state[PHASE] & 1
    own = 4 * side
    foe = 4 - own
    if code >= SWAP:
        low = np.int64(1) << ((code >> 6) & 63)
        high = np.int64(1) << (code & 63)
        if low != high:
            for role in range(4):
                # Two cubes of one role change places without a trace.
                held = out[own + role] & (low | high)
                if held == low or held == high:
                    out[own + role] ^= low | high
        # Each side swaps once or passes: White first, then Black, after whom the phase is over.
        out[PHASE] = (1 - side) | (0 if side else SWAPPING)
        out[FULL] += side
        return
    start = np.int64(1) << (code >> 12)
    mid = np.int64(1) << ((code >> 6) & 63)
    third = code & 63
    end = np.int64(1) << (third - 1) if third else np.int64(0)
    stacks = state[BOTTOMS] | state[BOTTOMS + 1] | state[BOTTOMS + 2] | state[BOTTOMS + 3]
    mine = state[own] | state[own + 1] | state[own + 2] | state[own + 3]
    if third == 0:
        _move_cube(out, own, foe, start, mid)
    elif mid == start:
        _move_cube(out, own, foe, start, end)
    elif mid & mine & ~stacks:
        _move_cube(out, own, foe, start, mid)
        _move_stack(out, own, foe, mid, end)
    else:
        _move_stack(out, own, foe, start, mid)
        if end != mid:
            _move_cube(out, own, foe, mid, end)
    before = state[foe] | state[foe + 1] | state[foe + 2] | state[foe + 3]
    after = out[foe] | out[foe + 1] | out[foe + 2] | out[foe + 3]
    out[HALF] = state[HALF] + 1 if before == after else 0
    out[FULL] += side
    out[PHASE] = 1 - side
