"""Compiled move generation by sets of cells: rotations of 61-bit words find all moves of a direction at once.

Cells and directions are those of `tables`, where the board is drawn.

Letters, here and in the other kernel files. "Own" marbles are those of the side to move; "next" and "ahead" are in the
direction of the moves examined.

    o own marbles, x enemy marbles (bit sets)     k number of bits from a cell to the next one
    m own marbles with an empty cell ahead        i cells that have a next one (bit set)
    u, p and v, q: the k and i of the directions along the two other axes

    `behind(s)` = the cells whose next cell is in s. A marble line and what it meets, going to the right:

        O    O    O    X    X    .            t  enemies with nothing ahead: an empty cell or the edge
        c    b    a    s    t                 s  enemies right behind a t
"""

from __future__ import annotations

from typing import Any

import numpy as np

from referee.rules.abalone.tables import FULL, INSIDE, OTHER_AXES, RING, STEPS
from referee.rules.jit import ctz, jit, popcount

RING_BITS = np.uint64(RING)
FULL_BOARD = np.uint64(FULL)
ZERO = np.uint64(0)
ONE = np.uint64(1)

STEP = np.array(STEPS, dtype=np.uint64)
IN = np.array(INSIDE, dtype=np.uint64)
AXES = np.array([OTHER_AXES[direction % 3] for direction in range(6)], dtype=np.int64)

K0, K1, K2, K3, K4, K5 = (np.uint64(step) for step in STEPS)
I0, I1, I2, I3, I4, I5 = (np.uint64(inside) for inside in INSIDE)


@jit
def behind(s: Any, k: Any, i: Any) -> Any:
    """Return the cells of `i` whose next cell, `k` bits on, is in `s`."""
    return ((s >> k) | (s << (RING_BITS - k))) & i


@jit
def ahead(b: Any, k: Any) -> Any:
    """Return the next cells, `k` bits on, of the set `b`; all of them must be on the board."""
    return ((b << k) | (b >> (RING_BITS - k))) & FULL_BOARD


@jit
def singles(o: Any, x: Any, k: Any, i: Any) -> Any:
    """Return the own marbles with an empty cell ahead."""
    return o & i & ~behind(o | x, k, i)


@jit
def fronts(o: Any, x: Any, k: Any, i: Any) -> Any:
    """Return the fronts of lines that could push one enemy marble, and the fronts of lines that could push two."""
    t = x & ~behind(o | x, k, i)
    bt = behind(t, k, i)
    return o & bt, o & behind(x & bt, k, i)


@jit
def rears(o: Any, x: Any, k: Any, i: Any) -> Any:
    """Return the rearmost marbles of all inline moves: of lines of one to three marbles that can step or push."""
    m = singles(o, x, k, i)
    # Two marbles push one, three push two: so the marble behind a front is looked for once, or twice.
    a1, a2 = fronts(o, x, k, i)
    b = o & behind(m | a1, k, i)
    c = o & behind(b | (o & behind(a2, k, i)), k, i)
    return m | b | c


@jit
def _count_direction(o: Any, x: Any, k: Any, i: Any, u: Any, p: Any, v: Any, q: Any) -> int:
    m = singles(o, x, k, i)
    u2 = m & behind(m, u, p)
    v2 = m & behind(m, v, q)
    u3 = m & behind(u2, u, p)
    v3 = m & behind(v2, v, q)
    n = popcount(rears(o, x, k, i)) + popcount(u2) + popcount(v2) + popcount(u3) + popcount(v3)
    return n  # type: ignore[no-any-return]


@jit
def count_direction(o: Any, x: Any, d: int) -> int:
    """Return the number of moves in direction `d`, inline and broadside."""
    e, f = AXES[d, 0], AXES[d, 1]
    return _count_direction(o, x, STEP[d], IN[d], STEP[e], IN[e], STEP[f], IN[f])


@jit
def count_moves(o: Any, x: Any) -> int:
    """Return the number of moves of the side that owns `o`. Six calls with constant rotations compile to faster code
    than a loop.
    """
    return (
        _count_direction(o, x, K0, I0, K1, I1, K2, I2)
        + _count_direction(o, x, K1, I1, K0, I0, K2, I2)
        + _count_direction(o, x, K2, I2, K0, I0, K1, I1)
        + _count_direction(o, x, K3, I3, K1, I1, K2, I2)
        + _count_direction(o, x, K4, I4, K0, I0, K2, I2)
        + _count_direction(o, x, K5, I5, K0, I0, K1, I1)
    )


@jit
def has_move(o: Any, x: Any) -> bool:
    """Return whether the side that owns `o` has a move. Steps of single marbles are tried before pushes."""
    for d in range(6):
        if singles(o, x, STEP[d], IN[d]) != ZERO:
            return True
    for d in range(6):
        if rears(o, x, STEP[d], IN[d]) != ZERO:
            return True
    return False


@jit
def low_ends(m: Any, shape: int, u: Any, p: Any, v: Any, q: Any) -> Any:
    """Return the low ends of the broadsides of one shape (1..4, see `tables`), from the own marbles `m` that can step."""
    if shape > 2:
        u, p = v, q
    s = m & behind(m, u, p)
    return s if shape % 2 == 1 else m & behind(s, u, p)


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
                s &= s - ONE  # without its lowest bit
    return n


@jit
def after(o: Any, x: Any, code: int) -> tuple[Any, Any, int]:
    """Return both boards after a legal move, and 1 if it ejects an enemy marble, else 0."""
    d, shape = (code >> 6) // 5, (code >> 6) % 5
    b = ONE << np.uint64(code & 63)
    k, i = STEP[d], IN[d]
    if shape > 0:
        u = STEP[AXES[d, (shape - 1) >> 1]]
        line = b | ahead(b, u)
        if shape % 2 == 0:
            line |= ahead(ahead(b, u), u)
        return (o ^ line) | ahead(line, k), x, 0
    # A line moves as if its rear marble jumped to the cell before its front: those between do not change.
    front = ahead(b, k)
    while o & front:
        front = ahead(front, k)
    o = o ^ b ^ front
    if x & front == ZERO:
        return o, x, 0
    x ^= front  # pushed marbles likewise: the first one jumps behind the last one, or off the board
    last = front
    while last & i:
        last = ahead(last, k)
        if x & last == ZERO:
            return o, x | last, 0
    return o, x, 1
