"""Moves and connection on a board of any size, kept as the patterns of its 70 lines (see `tables`).

Letters: `n` board size, `L` line patterns [3, 70] of the first side, the second and the neutral piece, `s` the side (0,
1), `z` the neutral piece's square or -1, `ban` the square that it left on the ply before and may not return to, or -1,
`q` a square (rank * 16 + file), `c` the number of pieces on a line, `M` a line's squares on the board, `own opp` the
pieces of a side and of its opponent on a line:

    rank 0, 4x4:  b . w b   own 1001, opp 0100, c = 3:  upwards a1 would land on d1, an own piece, over an opposing one

`kernel` decides whether a position without moves is a pass or the end of the game.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from referee.rules.jit import ctz, jit, popcount
from referee.rules.loa.state import BAN, FIRST, NEUTRAL, SIDE
from referee.rules.loa.tables import LINE_MASK, NOWHERE, THIRD

U1, U16, U48 = np.uint64(1), np.uint64(16), np.uint64(48)


@jit
def signed(x: Any) -> Any:
    """Convert a uint64 of a state to int64: where the two are mixed, interpreted kernels compute in floating point."""
    return np.int64(x)


@jit
def flip(L: Any, s: int, q: int) -> None:
    """Add or remove a piece on square `q` in all four lines through it."""
    r, f = q >> 4, q & 15
    L[s, r] ^= 1 << f
    L[s, 12 + f] ^= 1 << r
    L[s, 35 + r - f] ^= 1 << f
    L[s, 47 + r + f] ^= 1 << f


@jit
def load(state: Any, n: int, L: Any) -> None:
    """Fill the line patterns `L` from a state."""
    for s in range(3):
        for line in range(70):
            L[s, line] = 0
    for s in range(2):
        for w in range(3):
            word = state[FIRST + 3 * s + w]
            while word != np.uint64(0):
                i = ctz(word)
                word &= word - U1
                flip(L, s, ((i >> 3) << 4 | (i & 7)) if n == 8 else (w << 6 | i))
    if state[NEUTRAL] != np.uint64(0):
        flip(L, THIRD, signed(state[NEUTRAL]) - 1)


@jit
def movers(own: int, opp: int, c: int, M: int) -> tuple[int, int]:
    """Return the own pieces of a line that may move `c` squares upwards, and those that may move downwards."""
    # Moving the pattern instead of the pieces tests the targets of all pieces at once: on the board, and no own piece.
    up = own & ~(own >> c) & (M >> c)
    down = own & ~(own << c) & (M << c)
    # An opposing piece may not be jumped over, an own one may.
    for k in range(1, c):
        up &= ~(opp >> k)
        down &= ~(opp << k)
    return up, down


@jit
def bits(x: int) -> int:
    """Return the number of set bits of a small pattern."""
    return int(popcount(np.uint64(x)))


@jit
def touched(L: Any, z: int) -> bool:
    """Return whether a piece of either colour is adjacent to the neutral piece."""
    r, f = z >> 4, z & 15
    # The square's file and both neighbours; on the first file the left one is shifted out.
    near = (7 << f) >> 1
    for k in range(max(r - 1, 0), min(r + 2, 12)):
        if (L[0, k] | L[1, k]) & near & ~((1 << f) if k == r else 0):
            return True
    return False


@jit
def targets(L: Any, s: int, n: int, z: int, q: int, ends: Any) -> int:
    """Write the squares that the piece on `q` may move to, ascending, into `ends`; return their number (at most 8).

    When `q` is `z`, the neutral piece moves as a piece of side `s`; the callers apply `touched` and `ban`.
    """
    r, f = q >> 4, q & 15
    k = 0
    for d in range(4):
        if d == 0:
            line, place, step = r, f, 1
        elif d == 1:
            line, place, step = 12 + f, r, 16
        elif d == 2:
            line, place, step = 35 + r - f, f, 17
        else:
            line, place, step = 47 + r + f, f, -15
        own, opp = L[s, line], L[1 - s, line]
        c = bits(own | opp | L[2, line])
        up, down = movers(own | (1 << place), opp, c, LINE_MASK[n, line])
        if up >> place & 1:
            ends[k] = q + c * step
            k += 1
        if down >> place & 1:
            ends[k] = q - c * step
            k += 1
    # Insertion sort: at most eight squares, and moves must come in ascending order.
    for i in range(1, k):
        t = ends[i]
        j = i - 1
        while j >= 0 and ends[j] > t:
            ends[j + 1] = ends[j]
            j -= 1
        ends[j + 1] = t
    return k


@jit
def count_lines(L: Any, s: int, n: int, z: int, ban: int) -> int:
    """Return the number of moves of side `s` (no pass), the neutral piece's included."""
    total = 0
    for line in range(70):
        own = L[s, line]
        if own:
            opp = L[1 - s, line]
            up, down = movers(own, opp, bits(own | opp | L[2, line]), LINE_MASK[n, line])
            total += bits(up) + bits(down)
    if z >= 0 and touched(L, z):
        ends = np.empty(8, dtype=np.int64)
        k = targets(L, s, n, z, z, ends)
        for i in range(k):
            if ends[i] != ban:
                total += 1
    return total


@jit
def list_lines(L: Any, s: int, n: int, z: int, ban: int, moves: Any) -> int:
    """Write the moves of side `s` (no pass) as ascending codes into `moves`; return their number.

    Raise OverflowError if fewer than eight places are left for a piece.
    """
    ends = np.empty(8, dtype=np.int64)
    free = z if z >= 0 and touched(L, z) else -1
    total = 0
    for r in range(n):
        row = L[s, r]
        if free >= 0 and free >> 4 == r:
            row |= 1 << (free & 15)
        while row:
            f = ctz(np.uint64(row))
            row &= row - 1
            q = r << 4 | f
            # A compiled function writes past the end of an array without an error, so the room is tested before.
            if total + 8 > len(moves):
                raise OverflowError("too many moves for the buffer")
            k = targets(L, s, n, z, q, ends)
            for i in range(k):
                if q != z or ends[i] != ban:
                    moves[total] = q << 8 | ends[i]
                    total += 1
    return total


@jit
def grown(x0: Any, x1: Any, x2: Any) -> tuple[Any, Any, Any]:
    """Return the squares of three words (four ranks of 16 bits each) and all their neighbours, also those off the board."""
    x0 |= x0 << U1 | x0 >> U1
    x1 |= x1 << U1 | x1 >> U1
    x2 |= x2 << U1 | x2 >> U1
    return (
        x0 | x0 << U16 | x0 >> U16 | x1 << U48,
        x1 | x1 << U16 | x1 >> U16 | x0 >> U48 | x2 << U48,
        x2 | x2 << U16 | x2 >> U16 | x1 >> U48,
    )


@jit
def filled(a0: Any, a1: Any, a2: Any, s0: Any, s1: Any, s2: Any) -> tuple[Any, Any, Any]:
    """Return the part of the set `a` that is linked to its subset `s`."""
    while True:
        g0, g1, g2 = grown(s0, s1, s2)
        g0, g1, g2 = g0 & a0, g1 & a1, g2 & a2
        if g0 == s0 and g1 == s1 and g2 == s2:
            return s0, s1, s2
        s0, s1, s2 = g0, g1, g2


@jit
def words(L: Any, s: int) -> tuple[Any, Any, Any]:
    """Return the squares of side `s` (2: the neutral piece) in three words of four ranks."""
    # A rank has twelve squares at most, so the sign bit of an int64 stays free.
    x0 = np.uint64(L[s, 0] | L[s, 1] << 16 | L[s, 2] << 32 | L[s, 3] << 48)
    x1 = np.uint64(L[s, 4] | L[s, 5] << 16 | L[s, 6] << 32 | L[s, 7] << 48)
    x2 = np.uint64(L[s, 8] | L[s, 9] << 16 | L[s, 10] << 32 | L[s, 11] << 48)
    return x0, x1, x2


@jit
def seed(a0: Any, a1: Any, a2: Any) -> tuple[Any, Any, Any]:
    """Return the lowest square of a set, as a set; an empty set gives an empty one."""
    none = np.uint64(0)
    if a0 != none:
        return U1 << np.uint64(ctz(a0)), none, none
    if a1 != none:
        return none, U1 << np.uint64(ctz(a1)), none
    if a2 != none:
        return none, none, U1 << np.uint64(ctz(a2))
    return none, none, none


@jit
def connected(L: Any, s: int) -> bool:
    """Return whether all pieces of side `s`, and the neutral piece if there is one, form one group; true without
    pieces.
    """
    a0, a1, a2 = words(L, s)
    z0, z1, z2 = words(L, THIRD)
    # The neutral piece links both sides' pieces.
    a0, a1, a2 = a0 | z0, a1 | z1, a2 | z2
    s0, s1, s2 = seed(a0, a1, a2)
    s0, s1, s2 = filled(a0, a1, a2, s0, s1, s2)
    return bool(s0 == a0 and s1 == a1 and s2 == a2)


@jit
def make(L: Any, s: int, z: int, hole: int, move: int) -> tuple[int, int]:
    """Play a move of side `s` on `L`; return (the neutral piece's square after the move or -1, the new `ban`)."""
    source, target = move >> 8, move & 255
    if L[1 - s, target >> 4] >> (target & 15) & 1:
        flip(L, 1 - s, target)
    if source == z:
        flip(L, THIRD, source)
        flip(L, THIRD, target)
        return target, source
    flip(L, s, source)
    if target == z:
        flip(L, THIRD, target)
        z = NOWHERE
    if target != hole:
        flip(L, s, target)
    return z, NOWHERE


@jit
def sides(state: Any) -> tuple[Any, Any, Any]:
    """Return (side to move, `z`, `ban`) of a state."""
    return signed(state[SIDE]), signed(state[NEUTRAL]) - 1, signed(state[BAN]) - 1
