"""Captures of Baroque chess, and the moves that leave the king safe. Letters as in `kernel_board`."""

from __future__ import annotations

from typing import Any

import numpy as np

from referee.rules.baroque.kernel_board import (
    COORDINATOR,
    EIGHT,
    FREEZER,
    KING,
    LEAPER,
    NONE,
    NOT_A,
    NOT_H,
    ONE,
    PINCER,
    SEVEN,
    WITHDRAWER,
    destinations,
    frozen_near,
    kind,
    occupied,
)
from referee.rules.baroque.tables import BESIDE, BETWEEN, BEYOND, CROSS, FILE, LINES, NEAR, RANK, STRIDE
from referee.rules.jit import ctz, jit, popcount

# Captures


@jit
def pinched(t: Any, own: Any, foe: Any) -> Any:
    """Return the enemies next to square t that have a piece of `own` directly behind them, seen from t."""
    x = ((t << EIGHT) & (own >> EIGHT)) | ((t >> EIGHT) & (own << EIGHT))
    x |= ((t << ONE) & NOT_A & ((own & NOT_A) >> ONE)) | ((t >> ONE) & NOT_H & ((own & NOT_H) << ONE))
    return x & foe


@jit
def pinching(own: Any, foe: Any) -> Any:
    """Return the squares on which an arriving pincer captures; see `pinched`."""
    x = ((foe & (own >> EIGHT)) >> EIGHT) | ((foe & (own << EIGHT)) << EIGHT)
    x |= ((foe & ((own & NOT_A) >> ONE)) & NOT_A) >> ONE
    return x | (((foe & ((own & NOT_H) << ONE)) & NOT_H) << ONE)


@jit
def coordinating(k: Any, foe: Any) -> Any:
    """Return the squares that form a rectangle with the king k and an enemy on another corner."""
    if not k:
        return NONE
    c = np.uint64(ctz(k))
    on_rank = (foe >> (c & ~SEVEN)) & RANK[0]
    on_file = (foe >> (c & SEVEN)) & FILE[0]
    return on_rank * FILE[0] | on_file * RANK[0]


@jit
def captured(piece: Any, f: Any, t: Any, u: Any, v: Any, own: Any, foe: Any, style: Any) -> Any:
    """Return the squares of the enemies that the move f-t captures.

    f still counts as a square of the mover. It is never the partner of a pinch, since a piece that comes from behind
    its victim would have to pass through it.
    """
    if piece == FREEZER or f == t:
        return NONE
    if piece == PINCER:
        return pinched(t, own, foe)
    if piece == KING:
        return t & foe
    a = ctz(f)
    b = ctz(t)
    if piece == WITHDRAWER:
        return BEYOND[b, a] & foe
    if piece == LEAPER:
        return BETWEEN[a, b] & foe
    k = u[6]
    corners = NONE
    if k:  # on the king's rank or file the corners are the king's square and t, which hold no enemy
        c = ctz(k)
        corners = (FILE[b] & RANK[c]) | (FILE[c] & RANK[b])
    if piece == COORDINATOR:
        return corners & foe
    # A chameleon leaps over leapers only; the other captures of the same move add up if the rules say so.
    x = BETWEEN[a, b] & v[2]
    if x and not style & 4:
        return x
    # It pinches as a pincer does, so only after a move along a rank or file.
    if CROSS[a] & t:
        x |= pinched(t, own, v[0])
    return x | (corners & v[1]) | (BEYOND[b, a] & v[4])


@jit
def moved(u: Any, piece: Any, g: Any) -> Any:
    """Return a side with the squares g of one kind of piece toggled."""
    # Written out: numba cannot build a tuple in a loop.
    return (
        u[0] ^ (g if piece == 0 else NONE),
        u[1] ^ (g if piece == 1 else NONE),
        u[2] ^ (g if piece == 2 else NONE),
        u[3] ^ (g if piece == 3 else NONE),
        u[4] ^ (g if piece == 4 else NONE),
        u[5] ^ (g if piece == 5 else NONE),
        u[6] ^ (g if piece == 6 else NONE),
    )


@jit
def without(v: Any, x: Any) -> Any:
    """Return a side with all pieces on the squares x removed."""
    return v[0] & ~x, v[1] & ~x, v[2] & ~x, v[3] & ~x, v[4] & ~x, v[5] & ~x, v[6] & ~x


# Check


@jit
def threat(line: Any, own: Any, foe: Any) -> Any:
    """Return (whether the squares of a threat are empty, the own piece that alone blocks it, the enemies that do)."""
    n = popcount(line & own)
    if line & foe:
        return False, NONE, line & foe if n < 2 else NONE
    return n == 0, line & own if n == 1 else NONE, NONE


@jit
def guard(u: Any, v: Any, style: Any) -> Any:
    """Return (whether v attacks the king of u, pins, baits).

    Only the removal of pieces can open a new attack, as long as neither the king nor an immobilizer moves. `pins` are
    the own pieces whose departure may open one, `baits` the enemies whose capture may. Each threat needs some empty
    squares. If two own pieces stand there, either may leave; one own piece alone is a pin. If enemies stand there, all
    of them would have to be captured.
    """
    pins = NONE
    baits = NONE
    k = u[6]
    if not k:
        return False, pins, baits
    own = occupied(u)
    foe = occupied(v)
    s = ctz(k)
    near = NEAR[s]
    free = ~frozen_near(u[5], v[3] | v[5], style)
    check = (near & (v[6] | v[3]) & free) != NONE

    g = near & v[4] & free  # a withdrawer next to the king needs the square behind it
    while g:
        d = BEYOND[s, ctz(g)]
        g &= g - ONE
        if d & own:
            pins |= d
        elif d & foe:
            baits |= d
        elif d:
            check = True

    g = LINES[s] & v[2] & free  # a leaper in line with the king
    while g:
        a = ctz(g)
        g &= g - ONE
        d = BEYOND[a, s]
        if d:
            line = BETWEEN[a, s]
            x = (line | d) & foe
            h = line & own
            if x:
                baits |= x
            elif d & own:
                pins |= d
            # Two pieces in a row cannot be leapt over, nor more than the rules allow with the king as the last; each
            # piece that leaves may change that.
            elif (h | k) & ((h | k) >> STRIDE[a, s]) or (style >= 8 and popcount(h) >= style >> 3):
                pins |= h
            else:
                check = True

    g = v[0] & free  # a pincer that can reach the square opposite to an enemy next to the king
    if g:
        x = BESIDE[s] & foe
        while x:
            c = ctz(x)
            x &= x - ONE
            d = BEYOND[c, s]
            if d:
                b = ctz(d)
                # The partner itself cannot be the mover.
                p = CROSS[b] & g & ~(ONE << np.uint64(c))
                while p:
                    is_open, pin, bait = threat(BETWEEN[ctz(p), b] | d, own, foe)
                    p &= p - ONE
                    check |= is_open
                    pins |= pin
                    baits |= bait

    g = v[1] & free  # a coordinator that can reach the king's rank while the kings share a file, or vice versa
    if g and v[6]:
        c = ctz(v[6])
        goal = NONE
        if FILE[c] & k:
            goal = RANK[s] ^ k
        elif RANK[c] & k:
            goal = FILE[s] ^ k
        if goal:
            while g:
                a = ctz(g)
                g &= g - ONE
                x = LINES[a] & goal
                while x:
                    b = ctz(x)
                    x &= x - ONE
                    is_open, pin, bait = threat(BETWEEN[a, b] | (ONE << np.uint64(b)), own, foe)
                    check |= is_open
                    pins |= pin
                    baits |= bait
    return check, pins, baits


@jit
def dangers(u: Any, v: Any, own: Any, foe: Any, style: Any) -> Any:
    """Return (whether the king of u is in check, the pieces whose every move must be tested, baits); see `guard`.

    In check that is every piece, else the king, pinned pieces, and immobilizers that may release enemies.
    """
    check, pins, baits = guard(u, v, style)
    if check:
        return check, own, baits
    # A king that moves changes every line of attack, and an immobilizer that moves may set attackers free.
    x = u[6] | pins
    m = u[5]
    while m:
        s = ctz(m)
        if NEAR[s] & foe:
            x |= ONE << np.uint64(s)
        m &= m - ONE
    return check, x, baits


@jit
def is_safe(piece: Any, f: Any, t: Any, x: Any, u: Any, v: Any, style: Any) -> Any:
    """Return whether the king of u is not attacked after the move f-t, which captures x."""
    return not guard(moved(u, piece, f | t), without(v, x), style)[0]


# Legal moves of one piece


@jit
def goals(piece: Any, f: Any, v: Any, own: Any, foe: Any, z: Any, style: Any) -> Any:
    """Return the destinations of a piece on f (f itself for suicide); the safety of its king is not checked."""
    if f & z:
        return f if style & 2 and piece != KING else NONE
    return destinations(piece, f, own, foe, v, style)


@jit
def legal_from(f: Any, u: Any, v: Any, own: Any, foe: Any, z: Any, risky: Any, baits: Any, style: Any) -> Any:
    """Return the destinations of all legal moves of the piece on f, as a bitboard (f itself for suicide).

    If `risky`, the king's safety is tested after every move, else only after the capture of one of `baits`.
    """
    piece = kind(u, f)
    d = goals(piece, f, v, own, foe, z, style)
    if risky or baits:
        rest = d
        while rest:
            t = ONE << np.uint64(ctz(rest))
            rest ^= t
            x = captured(piece, f, t, u, v, own, foe, style)
            if risky or x & baits:
                if not is_safe(piece, f, t, x, u, v, style):
                    d ^= t
    return d
