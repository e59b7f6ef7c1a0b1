"""Boards of Baroque chess for the kernel: sides, frozen squares, and where pieces can go.

    8 | 56 57 58 59 60 61 62 63      a square is the bit 1 << (8 * rank + file), a1 = bit 0
    7 | 48 49 50 51 52 53 54 55      a move is 64 * origin + destination, for suicide they are equal
    6 | 40 41 42 43 44 45 46 47
    5 | 32 33 34 35 36 37 38 39      a side is seven bitboards: pincers, coordinators, leapers,
    4 | 24 25 26 27 28 29 30 31      chameleons, withdrawers, immobilizers, king, in this order
    3 | 16 17 18 19 20 21 22 23
    2 |  8  9 10 11 12 13 14 15      a state: 0-6 White, 7-13 Black, 14 side to move | 15 plies since a
    1 |  0  1  2  3  4  5  6  7          piece left the board, 16 move number, 17 plies played
        a  b  c  d  e  f  g  h

Letters: f, t origin and destination (one bit), u, v the sides that moves and waits (tuples of seven), own and foe all
their pieces, e the empty squares, h hurdles that may be leapt, z the mover's frozen squares, g and x sets of squares.
`style` packs the rules of movement: bit 0 classical immobilizers, 1 suicide, 2 leaping chameleons combine, from 3 on
the greatest number of leaps. No rule depends on colour or direction of play, so one set of functions serves both sides.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from referee.rules.baroque.state import CHAMELEON_LEAP_COMBINES, IMMOBILIZER, LEAPER_MAX_CAPTURES, SIDE, SUICIDE
from referee.rules.baroque.tables import LINES, NEAR
from referee.rules.jit import ctz, jit, popcount

PINCER, COORDINATOR, LEAPER, CHAMELEON, WITHDRAWER, FREEZER, KING = range(7)
"""Indices of a side's bitboards. FREEZER is the immobilizer: IMMOBILIZER is the index of its rule in a config."""

NONE = np.uint64(0)
ONE = np.uint64(1)
SEVEN = np.uint64(7)
EIGHT = np.uint64(8)
NINE = np.uint64(9)
NOT_A = np.uint64(0xFEFEFEFEFEFEFEFE)
NOT_H = np.uint64(0x7F7F7F7F7F7F7F7F)
"""A step over the left edge lands on file h, one over the right edge on file a: such steps are masked."""


@jit
def style_of(config: Any) -> Any:
    """Return the rules of movement packed into one number (see the module's docstring)."""
    return (
        config[IMMOBILIZER]
        | (config[SUICIDE] << 1)
        | (config[CHAMELEON_LEAP_COMBINES] << 2)
        | (config[LEAPER_MAX_CAPTURES] << 3)
    )


@jit
def side_at(state: Any, o: Any) -> Any:
    """Return the seven bitboards that start at index `o` of a state."""
    return state[o], state[o + 1], state[o + 2], state[o + 3], state[o + 4], state[o + 5], state[o + 6]


@jit
def sides(state: Any) -> Any:
    """Return the side to move and the side that waits."""
    o = 7 * np.int64(state[SIDE])
    return side_at(state, o), side_at(state, 7 - o)


@jit
def occupied(u: Any) -> Any:
    """Return all squares with a piece of a side."""
    return u[0] | u[1] | u[2] | u[3] | u[4] | u[5] | u[6]


@jit
def kind(u: Any, f: Any) -> Any:
    """Return the kind (0..6) of the piece of side u on the square f."""
    if u[0] & f:
        return 0
    if u[1] & f:
        return 1
    if u[2] & f:
        return 2
    if u[3] & f:
        return 3
    if u[4] & f:
        return 4
    if u[5] & f:
        return 5
    return 6


@jit
def frozen_near(m: Any, helpers: Any, style: Any) -> Any:
    """Return the squares on which the enemy immobilizers `m` freeze pieces.

    `helpers` are the chameleons and immobilizers of the side to be frozen. A single helper next to an immobilizer frees
    the other pieces next to that immobilizer, two or more free all; next to a classical immobilizer they free none.
    """
    z = NONE
    # Each immobilizer is judged by itself: what neutralises one does not help against another.
    while m:
        x = NEAR[ctz(m)]
        m &= m - ONE
        g = x & helpers
        if style & 1 or not g:
            z |= x
        elif popcount(g) == 1:
            z |= g
    return z


@jit
def frozen_squares(u: Any, v: Any, style: Any) -> Any:
    """Return the squares whose pieces the mover `u` may not move. A chameleon also freezes enemy immobilizers."""
    z = frozen_near(v[5], u[3] | u[5], style)
    m = u[5]
    while m:
        s = ctz(m)
        if NEAR[s] & v[3]:
            z |= ONE << np.uint64(s)
        m &= m - ONE
    return z


@jit
def sweep_up(g: Any, e: Any, s: Any) -> Any:
    """Return the set g and all squares reached from it upwards over the empty squares e."""
    # Three doubled steps (a Kogge-Stone fill) cover the seven squares of the longest ray.
    g |= e & (g << s)
    e &= e << s
    s2 = s + s
    g |= e & (g << s2)
    e &= e << s2
    return g | (e & (g << (s2 + s2)))


@jit
def sweep_down(g: Any, e: Any, s: Any) -> Any:
    """Return the set g and all squares reached from it downwards over the empty squares e."""
    g |= e & (g >> s)
    e &= e >> s
    s2 = s + s
    g |= e & (g >> s2)
    e &= e >> s2
    return g | (e & (g >> (s2 + s2)))


@jit
def leaps_up(g: Any, e: Any, h: Any, s: Any, max_leaps: Any) -> Any:
    """Return the squares that g reaches upwards by at most `max_leaps` (0 = any number) leaps over single pieces of h."""
    d = NONE
    # A slide, the piece leapt over, and the empty square right behind it, where the next slide begins.
    t = (((sweep_up(g, e, s) << s) & h) << s) & e
    while t:
        x = sweep_up(t, e, s)
        d |= x
        max_leaps -= 1
        if max_leaps == 0:
            break
        t = (((x << s) & h) << s) & e
    return d


@jit
def leaps_down(g: Any, e: Any, h: Any, s: Any, max_leaps: Any) -> Any:
    """Return the squares that g reaches downwards by at most `max_leaps` (0 = any number) leaps over single pieces of h."""
    d = NONE
    t = (((sweep_down(g, e, s) >> s) & h) >> s) & e
    while t:
        x = sweep_down(t, e, s)
        d |= x
        max_leaps -= 1
        if max_leaps == 0:
            break
        t = (((x >> s) & h) >> s) & e
    return d


@jit
def destinations(piece: Any, f: Any, own: Any, foe: Any, v: Any, style: Any) -> Any:
    """Return the destinations of an unfrozen piece on f; the safety of its king is not checked."""
    if piece == KING:
        return NEAR[ctz(f)] & ~own
    e = ~(own | foe)
    d = slides(f, e)
    if piece == PINCER:
        return d
    d |= slants(f, e)
    h = NONE
    if piece == LEAPER:
        h = foe & LINES[ctz(f)]
    elif piece == CHAMELEON:
        h = v[2] & LINES[ctz(f)]
    if h:
        d |= leaps(f, e, h, style >> 3)
    return d


@jit
def leaps(g: Any, e: Any, h: Any, max_leaps: Any) -> Any:
    """Return the squares that the pieces g reach by leaping over single pieces of h."""
    ea = e & NOT_A
    eh = e & NOT_H
    ha = h & NOT_A
    hh = h & NOT_H
    d = leaps_up(g, e, h, EIGHT, max_leaps) | leaps_down(g, e, h, EIGHT, max_leaps)
    d |= leaps_up(g, ea, ha, ONE, max_leaps) | leaps_down(g, eh, hh, ONE, max_leaps)
    d |= leaps_up(g, ea, ha, NINE, max_leaps) | leaps_down(g, eh, hh, NINE, max_leaps)
    return d | leaps_up(g, eh, hh, SEVEN, max_leaps) | leaps_down(g, ea, ha, SEVEN, max_leaps)


@jit
def slides(g: Any, e: Any) -> Any:
    """Return the empty squares that the pieces g reach along ranks and files."""
    ea = e & NOT_A
    eh = e & NOT_H
    return (sweep_up(g, e, EIGHT) | sweep_down(g, e, EIGHT) | sweep_up(g, ea, ONE) | sweep_down(g, eh, ONE)) & e


@jit
def slants(g: Any, e: Any) -> Any:
    """Return the empty squares that the pieces g reach along diagonals."""
    ea = e & NOT_A
    eh = e & NOT_H
    return (sweep_up(g, ea, NINE) | sweep_down(g, eh, NINE) | sweep_up(g, eh, SEVEN) | sweep_down(g, ea, SEVEN)) & e


@jit
def count_leaps(g: Any, e: Any, h: Any, max_leaps: Any) -> Any:
    """Count the moves of the pieces g that leap over pieces of h. Own pieces block, so none is counted twice."""
    ea = e & NOT_A
    eh = e & NOT_H
    ha = h & NOT_A
    hh = h & NOT_H
    n = popcount(leaps_up(g, e, h, EIGHT, max_leaps)) + popcount(leaps_down(g, e, h, EIGHT, max_leaps))
    n += popcount(leaps_up(g, ea, ha, ONE, max_leaps)) + popcount(leaps_down(g, eh, hh, ONE, max_leaps))
    n += popcount(leaps_up(g, ea, ha, NINE, max_leaps)) + popcount(leaps_down(g, eh, hh, NINE, max_leaps))
    return n + popcount(leaps_up(g, eh, hh, SEVEN, max_leaps)) + popcount(leaps_down(g, ea, ha, SEVEN, max_leaps))


@jit
def count_slides(p: Any, g: Any, e: Any) -> Any:
    """Count the sliding moves of the pincers p and of the pieces g, which move like a queen."""
    ea = e & NOT_A
    eh = e & NOT_H
    x = p | g
    n = popcount(sweep_up(x, e, EIGHT) & e) + popcount(sweep_down(x, e, EIGHT) & e)
    n += popcount(sweep_up(x, ea, ONE) & e) + popcount(sweep_down(x, eh, ONE) & e)
    n += popcount(sweep_up(g, ea, NINE) & e) + popcount(sweep_down(g, eh, NINE) & e)
    return n + popcount(sweep_up(g, eh, SEVEN) & e) + popcount(sweep_down(g, ea, SEVEN) & e)


@jit
def queens(u: Any) -> Any:
    """Return the pieces of a side that move as a queen does: all but pincers and king."""
    return u[1] | u[2] | u[3] | u[4] | u[5]
