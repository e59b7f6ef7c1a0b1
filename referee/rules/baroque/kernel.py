"""The compiled rules of Baroque chess: legal moves, captures, check, results, counting and random play.

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

from referee.rules.baroque.state import (
    BARE_KINGS_DRAW,
    CHAMELEON_LEAP_COMBINES,
    IMMOBILIZER,
    KEY_SIZE,
    LAST_COUNT,
    LEAPER_MAX_CAPTURES,
    MAX_PLIES,
    NO_CAPTURE_LIMIT,
    NUMBER,
    PLIES,
    QUIET,
    REPETITION,
    SIDE,
    STALEMATE,
    STATE_SIZE,
    SUICIDE,
)
from referee.rules.baroque.tables import BESIDE, BETWEEN, BEYOND, CROSS, FILE, LINES, NEAR, RANK, STRIDE
from referee.rules.jit import ctz, jit, popcount, random_below

__all__ = [
    "DTYPE",
    "KEY_SIZE",
    "MAX_MOVES",
    "STATE_SIZE",
    "captures",
    "count",
    "evaluate",
    "in_check",
    "legal",
    "play",
    "playout",
    "quiet_eval",
    "result",
]

DTYPE = np.uint64
MAX_MOVES = 512
"""An upper bound. Each of n own pieces has at most 27 destinations. Each of the 64 - n other squares is reached by at
most one piece in each direction, since own pieces block. So 27 n and 8 (64 - n) + n both bound the number of moves:
together below 420.
"""

PINCER, COORDINATOR, LEAPER, CHAMELEON, WITHDRAWER, FREEZER, KING = range(7)

# Reason numbers, in the order of `Rules.reasons` in rules.py.
BY_CHECKMATE, BY_STALEMATE, BY_BARE_KINGS, BY_NO_CAPTURE, BY_REPETITION, BY_MAX_PLIES = range(6)
DRAW = 3

LAST = np.uint64(LAST_COUNT)
NONE = np.uint64(0)
ONE = np.uint64(1)
SEVEN = np.uint64(7)
EIGHT = np.uint64(8)
NINE = np.uint64(9)
NOT_A = np.uint64(0xFEFEFEFEFEFEFEFE)
NOT_H = np.uint64(0x7F7F7F7F7F7F7F7F)
"""A step over the left edge lands on file h, one over the right edge on file a: such steps are masked."""


# States and sides


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


# Freezing


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


# Functions for all pieces of a set in one direction: `_up` raises the bit number by s, `_down` lowers it.
# The sets e and h must lack the file on which a step over the left or right edge would land.


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
                    line = BETWEEN[ctz(p), b] | d
                    p &= p - ONE
                    n = popcount(line & own)
                    if line & foe:
                        if n < 2:
                            baits |= line & foe
                    elif n == 0:
                        check = True
                    elif n == 1:
                        pins |= line & own

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
                    line = BETWEEN[a, b] | (ONE << np.uint64(b))
                    n = popcount(line & own)
                    if line & foe:
                        if n < 2:
                            baits |= line & foe
                    elif n == 0:
                        check = True
                    elif n == 1:
                        pins |= line & own
    return check, pins, baits


@jit
def touchy(u: Any, foe: Any, pins: Any) -> Any:
    """Return the pieces whose every move must be tested: the king, pinned pieces, and an immobilizer that may release
    enemies.
    """
    # A king that moves changes every line of attack, and an immobilizer that moves may set attackers free.
    x = u[6] | pins
    m = u[5]
    while m:
        s = ctz(m)
        if NEAR[s] & foe:
            x |= ONE << np.uint64(s)
        m &= m - ONE
    return x


# Legal moves


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
                if guard(moved(u, piece, f | t), without(v, x), style)[0]:
                    d ^= t
    return d


@jit
def count_moves(u: Any, v: Any, check: Any, pins: Any, baits: Any, style: Any) -> Any:
    """Count the legal moves; pieces that cannot affect the king's safety are counted in bulk."""
    own = occupied(u)
    foe = occupied(v)
    z = frozen_squares(u, v, style) & own
    n = 0
    risk = own if check else touchy(u, foe, pins)
    rest = own if check or baits else risk
    if not (check or baits):
        # The pieces whose moves need no test are counted together by fills.
        easy = ~(z | risk)
        e = ~(own | foe)
        n += count_slides(u[0] & easy, (u[1] | u[2] | u[3] | u[4] | u[5]) & easy, e)
        if u[2] & easy:
            n += count_leaps(u[2] & easy, e, foe, style >> 3)
        if v[2] and u[3] & easy:
            n += count_leaps(u[3] & easy, e, v[2], style >> 3)
        if style & 2:
            # Suicides of frozen pieces. The king, which may not, is always among `risk`.
            n += popcount(z & ~risk)
    # Without suicide a frozen piece has no move.
    if not style & 2:
        rest &= ~z
    while rest:
        f = ONE << np.uint64(ctz(rest))
        rest ^= f
        n += popcount(legal_from(f, u, v, own, foe, z, (f & risk) != NONE, baits, style))
    return n


@jit
def can_move(u: Any, v: Any, check: Any, pins: Any, baits: Any, style: Any) -> Any:
    """Return whether there is a legal move. One step of a piece that cannot affect the king's safety suffices."""
    own = occupied(u)
    foe = occupied(v)
    z = frozen_squares(u, v, style) & own
    risk = own if check else touchy(u, foe, pins)
    if not (check or baits):
        easy = ~(z | risk)
        e = ~(own | foe)
        g = (u[1] | u[2] | u[3] | u[4] | u[5]) & easy
        x = g | (u[0] & easy)
        if ((x << EIGHT) | (x >> EIGHT) | ((x << ONE) & NOT_A) | ((x >> ONE) & NOT_H)) & e:
            return True
        if (((g << NINE) | (g >> SEVEN)) & NOT_A | ((g << SEVEN) | (g >> NINE)) & NOT_H) & e:
            return True
    rest = own if style & 2 else own & ~z
    while rest:
        f = ONE << np.uint64(ctz(rest))
        rest ^= f
        piece = kind(u, f)
        d = goals(piece, f, v, own, foe, z, style)
        if not ((f & risk) | baits):
            if d:
                return True
            continue
        while d:
            t = ONE << np.uint64(ctz(d))
            d ^= t
            x = captured(piece, f, t, u, v, own, foe, style)
            if not ((f & risk) | (x & baits)) or not guard(moved(u, piece, f | t), without(v, x), style)[0]:
                return True
    return False


@jit
def legal(state: Any, config: Any, moves: Any) -> Any:
    style = style_of(config)
    u, v = sides(state)
    own = occupied(u)
    foe = occupied(v)
    check, pins, baits = guard(u, v, style)
    z = frozen_squares(u, v, style)
    risk = own if check else touchy(u, foe, pins)
    n = 0
    rest = own
    while rest:
        a = ctz(rest)
        f = ONE << np.uint64(a)
        rest ^= f
        d = legal_from(f, u, v, own, foe, z, (f & risk) != NONE, baits, style)
        if n + popcount(d) > len(moves):
            raise OverflowError("more legal moves than the buffer holds")
        while d:
            moves[n] = 64 * a + ctz(d)
            n += 1
            d &= d - ONE
    return n


@jit
def count(state: Any, config: Any) -> Any:
    style = style_of(config)
    u, v = sides(state)
    check, pins, baits = guard(u, v, style)
    return count_moves(u, v, check, pins, baits, style)


@jit
def play(state: Any, config: Any, move: Any, out: Any) -> Any:
    style = style_of(config)
    u, v = sides(state)
    f = ONE << np.uint64(move // 64)
    t = ONE << np.uint64(move % 64)
    piece = kind(u, f)
    x = captured(piece, f, t, u, v, occupied(u), occupied(v), style)
    u = moved(u, piece, f | t)
    v = without(v, x)
    o = 7 * np.int64(state[SIDE])
    for i in range(7):
        out[o + i] = u[i]
        out[7 - o + i] = v[i]
    out[SIDE] = ONE - state[SIDE]
    # The counter is of plies since a piece left the board, by capture or suicide.
    out[QUIET] = NONE if x or f == t else min(state[QUIET] + ONE, LAST)
    out[NUMBER] = min(state[NUMBER] + state[SIDE], LAST)
    out[PLIES] = state[PLIES] + ONE


# Results


@jit
def result(state: Any, config: Any, occurrences: Any, gap: Any) -> Any:
    """Return the result code in the order of the rules: mate, stalemate, bare kings, then the limits."""
    style = style_of(config)
    u, v = sides(state)
    check, pins, baits = guard(u, v, style)
    # Mate and stalemate come before all limits, so a mate on the last ply counts.
    if not can_move(u, v, check, pins, baits, style):
        return blocked(check, np.int64(state[SIDE]), config)
    quiet = np.int64(state[QUIET])
    if config[BARE_KINGS_DRAW] and is_bare(u, v):
        return BY_BARE_KINGS * 4 + DRAW
    if config[NO_CAPTURE_LIMIT] and quiet >= config[NO_CAPTURE_LIMIT]:
        return BY_NO_CAPTURE * 4 + DRAW
    if config[REPETITION] and occurrences >= config[REPETITION]:
        return BY_REPETITION * 4 + DRAW
    if config[MAX_PLIES] and np.int64(state[PLIES]) >= config[MAX_PLIES]:
        return BY_MAX_PLIES * 4 + DRAW
    return 0


@jit
def blocked(check: Any, side: Any, config: Any) -> Any:
    """Return the result code for a side (0 or 1) without legal moves."""
    if check:
        return BY_CHECKMATE * 4 + 2 - side
    return BY_STALEMATE * 4 + (2 - side if config[STALEMATE] else DRAW)


@jit
def is_bare(u: Any, v: Any) -> Any:
    """Return whether two kings are the only pieces."""
    return occupied(u) == u[6] and occupied(v) == v[6] and u[6] != NONE and v[6] != NONE


# Random games


@jit
def playout(state: Any, config: Any, rng: Any, max_plies: Any) -> Any:
    """Play a random game. A bitboard per piece holds its destinations; a random number selects one bit of all."""
    style = style_of(config)
    u, v = sides(state)
    side = np.int64(state[SIDE])
    quiet = np.int64(state[QUIET])
    before = np.int64(state[PLIES])
    plies = 0
    targets = np.empty(64, dtype=np.uint64)
    origins = np.empty(64, dtype=np.uint64)
    while True:
        own = occupied(u)
        foe = occupied(v)
        check, pins, baits = guard(u, v, style)
        z = frozen_squares(u, v, style)
        risk = own if check else touchy(u, foe, pins)
        total = 0
        n = 0
        rest = own
        while rest:
            f = ONE << np.uint64(ctz(rest))
            rest ^= f
            d = legal_from(f, u, v, own, foe, z, (f & risk) != NONE, baits, style)
            if d:
                origins[n] = f
                targets[n] = d
                n += 1
                total += popcount(d)
        if total == 0:
            return blocked(check, side, config), plies
        if config[BARE_KINGS_DRAW] and is_bare(u, v):
            return BY_BARE_KINGS * 4 + DRAW, plies
        if config[NO_CAPTURE_LIMIT] and quiet >= config[NO_CAPTURE_LIMIT]:
            return BY_NO_CAPTURE * 4 + DRAW, plies
        if config[MAX_PLIES] and before + plies >= config[MAX_PLIES]:
            return BY_MAX_PLIES * 4 + DRAW, plies
        if plies >= max_plies:
            return 0, plies
        i = random_below(rng, total)  # find the i-th of all moves
        n = 0
        while i >= popcount(targets[n]):
            i -= popcount(targets[n])
            n += 1
        d = targets[n]
        while i > 0:
            d &= d - ONE
            i -= 1
        f = origins[n]
        t = ONE << np.uint64(ctz(d))
        piece = kind(u, f)
        x = captured(piece, f, t, u, v, own, foe, style)
        quiet = np.int64(0) if x or f == t else quiet + 1
        u, v = without(v, x), moved(u, piece, f | t)
        side = 1 - side
        plies += 1


# Values for display


@jit
def frozen(state: Any, config: Any) -> Any:
    """Return all frozen pieces as a bitboard; the waiting side's are found as if it were to move."""
    style = style_of(config)
    u, v = sides(state)
    return (frozen_squares(u, v, style) & occupied(u)) | (frozen_squares(v, u, style) & occupied(v))


@jit
def in_check(state: Any, config: Any) -> Any:
    """Return whether the king of the side to move is in check."""
    u, v = sides(state)
    return guard(u, v, style_of(config))[0]


@jit
def victims(state: Any, config: Any, move: Any) -> Any:
    """Return the squares of the enemies that a move captures, as a bitboard."""
    u, v = sides(state)
    f = ONE << np.uint64(move // 64)
    t = ONE << np.uint64(move % 64)
    return captured(kind(u, f), f, t, u, v, occupied(u), occupied(v), style_of(config))


# Evaluation. Values in centipawns: a pincer is worth 100.

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
    n += 2 * count_slides(u[0] & free, (u[1] | u[2] | u[3] | u[4] | u[5]) & free, e)
    if v[6]:
        s = ctz(v[6])
        x = NEAR[s]
        pieces = occupied(u) & free
        n += 4 * popcount(LINES[s] & pieces) + 8 * popcount(x & pieces) - 10 * popcount(x & e)
    return n


# For quiescence search: see `referee.rules.rules.Tactics`.

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
def captures(state: Any, config: Any, values: Any, moves: Any, gains: Any) -> Any:
    """Write the legal captures to `moves` and the values of what they capture to `gains`; return their number."""
    style = style_of(config)
    u, v = sides(state)
    own = occupied(u)
    foe = occupied(v)
    z = frozen_squares(u, v, style)
    n = 0
    is_guarded, check, pins, baits, risk = False, False, NONE, NONE, NONE
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
                # `guard` is the slow part, and many positions have no capture.
                if not is_guarded:
                    is_guarded = True
                    check, pins, baits = guard(u, v, style)
                    risk = own if check else touchy(u, foe, pins)
                if not ((f & risk) | (x & baits)) or not guard(moved(u, piece, f | t), without(v, x), style)[0]:
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
