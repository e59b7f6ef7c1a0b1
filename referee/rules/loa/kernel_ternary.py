"""Moves and connection on the 8x8 board: two bitboards, and its 46 lines as numbers in base 3 (see `tables`).

Letters: `X` the numbers of the lines [46], `a b` the bitboards of the side to move and its opponent, `s` the side (0,
1), `i j` squares (rank * 8 + file), `d` a direction, upwards and downwards along it: rank (+1), file (+8), rising
diagonal (+9), falling diagonal (-7). A rank of the board and its number:

    place     0 1 2 3 4 5 6 7
              b . w . . b . .     1 + 2 * 3**2 + 1 * 3**5 + the offset of lines of eight squares

`kernel` decides whether a position without moves is a pass or the end of the game.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from referee.rules.jit import ctz, jit, popcount, random_below
from referee.rules.loa.state import FIRST, SECOND
from referee.rules.loa.tables import (
    COUNTS,
    DIGITS8,
    EMPTY8,
    FILE8,
    HOLES,
    LEAD8,
    LINE8,
    PLACE8,
    SQUARES8,
    STONES,
    TERNARY,
    WAYS,
    WORTH8,
)

U0, U1, U2, U4, U7, U8 = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(7), np.uint64(8)
U14, U16, U28, U32 = np.uint64(14), np.uint64(16), np.uint64(28), np.uint64(32)
NOT_A, NOT_H = np.uint64(0xFEFEFEFEFEFEFEFE), np.uint64(0x7F7F7F7F7F7F7F7F)
FILE_A = np.uint64(0x0101010101010101)
BYTE = np.uint64(255)
ONE: Any = np.int64(1)
TWO: Any = np.int64(2)
"""The digits of both sides."""
LONG8 = np.uint64(EMPTY8[0])


@jit
def put(X: Any, i: int, k: int) -> None:
    """Change the digit of square `i` by `k` in all four lines through it."""
    for d in range(4 * i, 4 * i + 4):
        X[LINE8[d]] += k * WORTH8[d]


@jit
def load8(state: Any, X: Any) -> tuple[Any, Any]:
    """Fill `X` from a state; return the bitboards of both sides."""
    for line in range(46):
        X[line] = EMPTY8[line]
    x = state[FIRST]
    while x != U0:
        put(X, ctz(x), ONE)
        x &= x - U1
    x = state[SECOND]
    while x != U0:
        put(X, ctz(x), TWO)
        x &= x - U1
    return state[FIRST], state[SECOND]


@jit
def grown8(x: Any) -> Any:
    """Return the squares of `x` and all their neighbours."""
    # Files first: the squares to the left and right are then moved up and down with the others, so diagonals are included.
    x |= (x & NOT_H) << U1 | (x & NOT_A) >> U1
    return x | x << U8 | x >> U8


@jit
def filled8(a: Any, x: Any) -> Any:
    """Return the part of the set `a` that is linked to its subset `x`."""
    while True:
        y = grown8(x) & a
        if y == x:
            return x
        x = y


@jit
def connected8(a: Any) -> bool:
    """Return whether the pieces of a set form one group."""
    # The lowest bit is a & -a, but numpy warns of an overflow at the negation of an unsigned number.
    return bool(filled8(a, a & (~a + U1)) == a)


@jit
def far(x: Any) -> bool:
    """Return whether two or more empty ranks, or files, lie inside the set: then no single added piece can connect it."""
    r = x | x >> U4
    r |= r >> U2
    r |= r >> U1
    f = x | x >> U32
    f |= f >> U16
    f |= f >> U8
    # Gather the bits of the ranks, which are eight apart, into the lowest byte.
    r &= FILE_A
    r |= r >> U7
    r |= r >> U14
    r |= r >> U28
    return bool(HOLES[np.int64(r & BYTE)] > 1 or HOLES[np.int64(f & BYTE)] > 1)


@jit
def count8(X: Any, s: int) -> int:
    """Return the number of moves of side `s`."""
    total = 0
    for l in range(46):
        total += COUNTS[s * TERNARY + X[l]]
    return total


@jit
def by_file(x: Any) -> Any:
    """Turn a set with at most one square on each file into a byte with a bit for each file."""
    x |= x >> U32
    x |= x >> U16
    return (x | x >> U8) & BYTE


@jit
def by_rank(x: Any) -> Any:
    """Turn a set of squares of file a into a byte with a bit for each rank."""
    x |= x >> U7
    x |= x >> U14
    return (x | x >> U28) & BYTE


@jit
def lead8(a: Any, b: Any) -> int:
    """Return the number of moves of the first side, whose pieces are `a`, minus that of the second."""
    total: Any = 0
    for f in range(8):
        own, opp = by_rank(a >> np.uint64(f) & FILE_A), by_rank(b >> np.uint64(f) & FILE_A)
        total += np.int64(LEAD8[LONG8 + DIGITS8[own] + U2 * DIGITS8[opp]])
    for l in range(46):
        if not 8 <= l < 16:
            own, opp = by_file(a & SQUARES8[l]) >> FILE8[l], by_file(b & SQUARES8[l]) >> FILE8[l]
            total += np.int64(LEAD8[np.uint64(EMPTY8[l]) + DIGITS8[own] + U2 * DIGITS8[opp]])
    return total  # type: ignore[no-any-return]


@jit
def has_move8(a: Any, b: Any) -> bool:
    """Return whether the side whose pieces are `a` has a move; usually the first piece examined has one."""
    left = a
    while left != U0:
        i = ctz(left)
        left &= left - U1
        for d in range(4):
            squares = SQUARES8[LINE8[4 * i + d]]
            c = popcount((a | b) & squares) * abs(step(d))
            for j in (i - c, i + c):
                if 0 <= j < 64 and squares & ~a & U1 << np.uint64(j) != U0:
                    # The squares between i and j on the line: bits above the lower and below the higher of them.
                    low, high = np.uint64(min(i, j)), np.uint64(max(i, j))
                    if b & squares & ((U1 << high) - (U2 << low)) == U0:
                        return True
    return False


@jit
def step(d: int) -> int:
    """Return the difference between the numbers of a square and of the next one in direction `d`."""
    return 7 + d if d == 1 or d == 2 else (1 if d == 0 else -7)


@jit
def code8(i: int, j: int) -> int:
    """Return the code of the move from square `i` to square `j`."""
    return ((i >> 3) << 12) | ((i & 7) << 8) | ((j >> 3) << 4) | (j & 7)


@jit
def list8(X: Any, a: Any, s: int, moves: Any) -> int:
    """Write the moves of side `s` as ascending codes into `moves`; return their number.

    Raise OverflowError if fewer than eight places are left for a piece.
    """
    total = 0
    while a != U0:
        i = ctz(a)
        a &= a - U1
        t = U0
        for d in range(4):
            x = X[LINE8[4 * i + d]]
            w = WAYS[s * TERNARY + x] >> PLACE8[4 * i + d]
            c = STONES[x] * step(d)
            if w & 1:
                t |= U1 << np.uint64(i + c)
            if w & 256:
                t |= U1 << np.uint64(i - c)
        # Compiled code writes past the end of an array without an error.
        if total + 8 > len(moves):
            raise OverflowError("too many moves for the buffer")
        while t != U0:
            moves[total] = code8(i, ctz(t))
            total += 1
            t &= t - U1
    return total


@jit
def random8(X: Any, s: int, rng: Any) -> int:
    """Return a uniformly random move of side `s` as `i * 64 + j`; -1 if it has no move."""
    k = count8(X, s)
    if k == 0:
        return -1
    k = random_below(rng, k)
    l = 0
    while k >= COUNTS[s * TERNARY + X[l]]:
        k -= COUNTS[s * TERNARY + X[l]]
        l += 1
    w = np.uint64(WAYS[s * TERNARY + X[l]])
    for _ in range(k):
        w &= w - U1
    p = ctz(w)
    c = STONES[X[l]] if p < 8 else -STONES[X[l]]
    p &= 7
    # The inverse of `LINE8` and `PLACE8` (see `tables`): from a line and a place on it to the square.
    if l < 8:
        i = 8 * l + p
    elif l < 16:
        i, c = 8 * p + l - 8, 8 * c
    elif l < 31:
        i, c = (9 * p + 8 * (l - 23) if l >= 23 else 9 * p + 23 - l), 9 * c
    else:
        i, c = (8 * (l - 31) - 7 * p if l < 39 else 56 + l - 38 - 7 * p), -7 * c
    return int(i * 64 + i + c)
