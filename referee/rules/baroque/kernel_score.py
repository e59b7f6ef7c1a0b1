"""Static scores of Baroque chess, and captures with their values. Letters as in `kernel_board`."""

from __future__ import annotations

from typing import Any

import numpy as np

from referee.rules.baroque.kernel_board import (
    CHAMELEON,
    COORDINATOR,
    KING,
    LEAPER,
    NONE,
    ONE,
    PINCER,
    WITHDRAWER,
    count_slides,
    frozen_squares,
    kind,
    leaps,
    occupied,
    queens,
    sides,
    slants,
    slides,
    style_of,
)
from referee.rules.baroque.kernel_check import captured, coordinating, dangers, guard, is_safe, pinched, pinching
from referee.rules.baroque.state import SIDE
from referee.rules.baroque.tables import BEYOND, CROSS, LINES, NEAR
from referee.rules.jit import ctz, jit, popcount

WORTH = 100, 300, 550, 350, 250, 600
"""Values of the pieces in the order of a side's bitboards, without the king. They were set by hand: the champion of Baroque
has values tuned in games (docs/reports/2026-11-24-champion.md).
"""


@jit
def worth(u: Any, g: Any, values: Any) -> Any:
    """Return the value of a side's pieces on the squares g."""
    n = values[0] * popcount(u[0] & g) + values[1] * popcount(u[1] & g) + values[2] * popcount(u[2] & g)
    return n + values[3] * popcount(u[3] & g) + values[4] * popcount(u[4] & g) + values[5] * popcount(u[5] & g)


@jit
def takings(piece: Any, f: Any, u: Any, v: Any, own: Any, foe: Any, style: Any) -> Any:
    """Return all destinations at which an unfrozen piece on f captures, and possibly further ones.

    The safety of its king is not checked.
    """
    a = ctz(f)
    if piece == KING:
        return NEAR[a] & foe
    e = ~(own | foe)
    if piece == LEAPER:
        return leaps(f, e, foe & LINES[a], style >> 3)
    if piece == PINCER:
        x = pinching(own, foe) & e
        return x & slides(f, e) if x else x
    if piece == COORDINATOR:
        x = coordinating(u[6], foe) & e
    elif piece == WITHDRAWER:
        # It captures what it leaves behind, so only from a square next to an enemy; `captured` tests the direction.
        x = e if NEAR[a] & foe else NONE
    elif piece == CHAMELEON:
        x = e
        # Next to a withdrawer every square may be one that withdraws from it. Elsewhere only pincers and coordinators
        # can be captured, on few squares.
        if not NEAR[a] & v[4]:
            x &= pinching(own, v[0]) & CROSS[a] | coordinating(u[6], v[1])
    else:
        return NONE
    if x:
        x &= slides(f, e) | slants(f, e)
    if piece == CHAMELEON and v[2] & LINES[a]:
        x |= leaps(f, e, v[2], style >> 3)
    return x


@jit
def best_capture(u: Any, v: Any, own: Any, foe: Any, z: Any, style: Any) -> Any:
    """Return the highest value that one move of u captures; its king's safety is not checked."""
    free = ~z
    e = ~(own | foe)
    best = 0
    x = NEAR[ctz(u[6])] & foe if u[6] & free else NONE  # captures of king and withdrawers, one piece each
    g = u[4] & free
    while g:
        a = ctz(g)
        g &= g - ONE
        w = NEAR[a] & foe
        while w:
            c = ctz(w)
            w &= w - ONE
            if BEYOND[c, a] & e:
                x |= ONE << np.uint64(c)
    while x:
        t = ONE << np.uint64(ctz(x))
        x ^= t
        best = max(best, worth(v, t, WORTH))

    x = pinching(own, foe) & e  # captures of pincers depend on their destination alone
    if x:
        x &= slides(u[0] & free, e)
    while x:
        t = ONE << np.uint64(ctz(x))
        x ^= t
        best = max(best, worth(v, pinched(t, own, foe), WORTH))
    # These may capture several pieces at once, which depends on origin and destination: each move is tried.
    rest = (u[1] | u[2] | u[3]) & free
    while rest:
        f = ONE << np.uint64(ctz(rest))
        rest ^= f
        piece = kind(u, f)
        d = takings(piece, f, u, v, own, foe, style)
        while d:
            t = ONE << np.uint64(ctz(d))
            d ^= t
            best = max(best, worth(v, captured(piece, f, t, u, v, own, foe, style), WORTH))
    return best


@jit
def standing(u: Any, v: Any, e: Any, z: Any) -> Any:
    """Return the value of a side's pieces in their places: less if frozen (z), more if mobile and near the enemy king."""
    n = worth(u, ~NONE, WORTH) - worth(u, z, WORTH) // 4
    free = ~z
    n += 2 * count_slides(u[0] & free, queens(u) & free, e)
    if v[6]:
        s = ctz(v[6])
        x = NEAR[s]
        pieces = occupied(u) & free
        n += 4 * popcount(LINES[s] & pieces) + 8 * popcount(x & pieces) - 10 * popcount(x & e)
    return n


@jit
def evaluate(state: Any, config: Any) -> Any:
    """Return a static score: material, frozen pieces, mobility, nearness to the enemy king, and hanging pieces.

    The mover is credited with most of its best capture, so that a hanging piece counts without a search.
    """
    style = style_of(config)
    u, v = sides(state)
    own = occupied(u)
    foe = occupied(v)
    e = ~(own | foe)
    z = frozen_squares(u, v, style) & own
    score = standing(u, v, e, z) - standing(v, u, e, frozen_squares(v, u, style) & foe)
    score += 3 * best_capture(u, v, own, foe, z, style) // 4
    # As in `quiet_eval`.
    return min(max(score, -9_999), 9_999)


# For quiescence search: see `referee.rules.kernel_protocol.Tactics`.

FROZEN, STUCK_KING, ONWARD, ROOM = 6, 12, 13, 14
"""Indices of the piece values after the first six, which are those of the pieces. FROZEN starts the losses of each kind
when frozen; STUCK_KING is the loss of a frozen king. ONWARD is the value of each rank that a pincer has advanced,
ROOM the loss for each empty square next to the own king.
"""
PIECE_VALUES = np.array([*WORTH, *(24 * value // 100 for value in WORTH), 0, 0, 0], dtype=np.int64)
VALUE_GROUPS = np.array([0, 1, 2, 3, 4, 5, *[6] * len(WORTH), 7, 8, 9], dtype=np.int64)
ODD_RANKS = np.uint64(0xFF00FF00FF00FF00)
UPPER_PAIRS = np.uint64(0xFFFF0000FFFF0000)
UPPER_HALF = np.uint64(0xFFFFFFFF00000000)


@jit
def in_check(state: Any, config: Any) -> Any:
    """Return whether the king of the side to move is in check."""
    u, v = sides(state)
    return guard(u, v, style_of(config))[0]


@jit
def captures(state: Any, config: Any, values: Any, moves: Any, gains: Any) -> Any:
    """Write the legal captures to `moves` and the values of what they capture to `gains`; return their number."""
    style = style_of(config)
    u, v = sides(state)
    own = occupied(u)
    foe = occupied(v)
    z = frozen_squares(u, v, style)
    n = 0
    is_guarded, risk, baits = False, NONE, NONE
    # Immobilizers never capture.
    rest = own & ~z & ~u[5]
    while rest:
        a = ctz(rest)
        f = ONE << np.uint64(a)
        rest ^= f
        piece = kind(u, f)
        d = takings(piece, f, u, v, own, foe, style)
        while d:
            t = ONE << np.uint64(ctz(d))
            x = captured(piece, f, t, u, v, own, foe, style)
            if x:
                # `dangers` is the slow part, and many positions have no capture.
                if not is_guarded:
                    is_guarded = True
                    _, risk, baits = dangers(u, v, own, foe, style)
                if not ((f & risk) | (x & baits)) or is_safe(piece, f, t, x, u, v, style):
                    moves[n] = 64 * a + ctz(d)
                    gains[n] = worth(v, x, values)
                    n += 1
            d ^= t
    return n


@jit
def posture(u: Any, e: Any, z: Any, side: Any, values: Any) -> Any:
    """Return the value of the pieces of a side (0 or 1) in their places; z are its frozen pieces."""
    n = worth(u, ~NONE, values)
    if z:
        n -= worth(u, z, values[FROZEN:])
        if u[6] & z:
            n -= values[STUCK_KING]
    # The sum of the rank numbers: each mask has the ranks whose number has one of its three bits set.
    ranks = popcount(u[0] & ODD_RANKS) + 2 * popcount(u[0] & UPPER_PAIRS) + 4 * popcount(u[0] & UPPER_HALF)
    n += values[ONWARD] * (7 * popcount(u[0]) - ranks if side else ranks)
    if u[6]:
        n -= values[ROOM] * popcount(NEAR[ctz(u[6])] & e)
    return n


@jit
def quiet_eval(state: Any, config: Any, values: Any) -> Any:
    """Return a static score for the side to move by the given piece values; possible captures do not count."""
    style = style_of(config)
    u, v = sides(state)
    own = occupied(u)
    foe = occupied(v)
    e = ~(own | foe)
    side = np.int64(state[SIDE])
    score = posture(u, e, frozen_squares(u, v, style) & own, side, values)
    score -= posture(v, e, frozen_squares(v, u, style) & foe, 1 - side, values)
    # From 10,000 on a score would mean a win with the next move (see `Kernel.evaluate`).
    return min(max(score, -9_999), 9_999)
