"""Listing moves, and counting sequences of moves (perft): the last ply in bulk, the one before it set by set. Compiled.

Refuses to know states; the letters are those of `kernel_sets`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from referee.rules.abalone.kernel_sets import (
    AXES,
    IN,
    ONE,
    RING_BITS,
    STEP,
    ZERO,
    after,
    ahead,
    behind,
    count_moves,
    fronts,
    low_ends,
    rears,
    singles,
)
from referee.rules.jit import ctz, jit

TWO = np.uint64(2)
THREE = np.uint64(3)


@jit
def list_moves(o: Any, x: Any, moves: Any) -> int:
    """Write the moves of the side that owns `o` as ascending codes; return their number."""
    n = 0
    for d in range(6):
        k, i, e, f = STEP[d], IN[d], AXES[d, 0], AXES[d, 1]
        m = singles(o, x, k, i)
        for shape in range(5):
            s = rears(o, x, k, i) if shape == 0 else low_ends(m, shape, STEP[e], IN[e], STEP[f], IN[f])
            while s != ZERO:
                if n >= len(moves):
                    raise OverflowError("more legal moves than the buffer holds")
                moves[n] = (5 * d + shape) << 6 | ctz(s)
                n += 1
                s &= s - ONE
    return n


@jit
def _after_slides(s: Any, length: Any, o: Any, x: Any, k: Any) -> int:
    """Replies to all inline moves of `length` marbles into empty cells, by their rears `s`."""
    n, jump = 0, length * k % RING_BITS
    while s != ZERO:
        b = s & (~s + ONE)
        s ^= b
        n += count_moves(x, o ^ b ^ ahead(b, jump))
    return n


@jit
def _after_pushes(s: Any, length: Any, pushed: Any, o: Any, x: Any, k: Any, i: Any, left: int) -> int:
    """Replies to all pushes of `pushed` marbles by `length` own ones, by their rears; none to one that wins."""
    n, jump, reach = 0, length * k % RING_BITS, (pushed - ONE) * k % RING_BITS
    while s != ZERO:
        b = s & (~s + ONE)
        s ^= b
        front = ahead(b, jump)
        last = ahead(front, reach)
        if last & i:
            n += count_moves((x ^ front) | ahead(last, k), o ^ b ^ front)
        elif left > 1:
            n += count_moves(x ^ front, o ^ b ^ front)
    return n


@jit
def _after_broadsides(s: Any, length: Any, o: Any, x: Any, k: Any, u: Any) -> int:
    """Replies to all broadsides of `length` marbles along the axis of step `u`, by their low ends."""
    n = 0
    while s != ZERO:
        b = s & (~s + ONE)
        s ^= b
        line = b | ahead(b, u)
        if length == THREE:
            line |= ahead(ahead(b, u), u)
        n += count_moves(x, o ^ line ^ ahead(line, k))
    return n


@jit
def _two_plies(o: Any, x: Any, left: int) -> int:
    """Leaves after a move and a reply; `left` is the number of ejections that wins."""
    n = 0
    for d in range(6):
        k, i = STEP[d], IN[d]
        m = singles(o, x, k, i)
        a1, a2 = fronts(o, x, k, i)
        b = o & behind(m, k, i)
        n += _after_slides(m, ONE, o, x, k)
        n += _after_slides(b, TWO, o, x, k)
        n += _after_slides(o & behind(b, k, i), THREE, o, x, k)
        if a1 | a2 != ZERO:
            b = o & behind(a1, k, i)
            n += _after_pushes(b, TWO, ONE, o, x, k, i, left)
            n += _after_pushes(o & behind(b, k, i), THREE, ONE, o, x, k, i, left)
            n += _after_pushes(o & behind(o & behind(a2, k, i), k, i), THREE, TWO, o, x, k, i, left)
        for a in range(2):
            u, p = STEP[AXES[d, a]], IN[AXES[d, a]]
            s = m & behind(m, u, p)
            n += _after_broadsides(s, TWO, o, x, k, u)
            n += _after_broadsides(m & behind(s, u, p), THREE, o, x, k, u)
    return n


@jit
def count_sequences(o: Any, x: Any, left: int, left_other: int, depth: int, moves: Any) -> int:
    """Leaves at `depth` >= 1 plies; `left` and `left_other` ejections win for the side to move and the other side.

    `moves` is a scratch array of one row per ply.
    """
    if depth == 1:
        return count_moves(o, x)
    if depth == 2:
        return _two_plies(o, x, left)
    row, n = moves[depth - 3], 0
    for j in range(list_moves(o, x, row)):
        after_o, after_x, ejected = after(o, x, row[j])
        if left > ejected:
            n += count_sequences(after_x, after_o, left_other, left - ejected, depth - 1, moves)
    return n
