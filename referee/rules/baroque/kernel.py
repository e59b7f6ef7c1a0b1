"""The compiled rules of Baroque chess: legal moves, results, counting and random play.

`kernel_board` draws the boards and explains the letters, `kernel_check` has captures and check, `kernel_score` the
evaluation.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from referee.rules.baroque.kernel_board import (
    EIGHT,
    NINE,
    NONE,
    NOT_A,
    NOT_H,
    ONE,
    SEVEN,
    count_leaps,
    count_slides,
    frozen_squares,
    kind,
    occupied,
    queens,
    sides,
    style_of,
)
from referee.rules.baroque.kernel_check import captured, dangers, goals, is_safe, legal_from, moved, without
from referee.rules.baroque.kernel_score import PIECE_VALUES, VALUE_GROUPS, captures, evaluate, in_check, quiet_eval
from referee.rules.baroque.state import (
    BARE_KINGS_DRAW,
    KEY_SIZE,
    LAST_COUNT,
    MAX_PLIES,
    NO_CAPTURE_LIMIT,
    NUMBER,
    PLIES,
    QUIET,
    REPETITION,
    SIDE,
    STALEMATE,
    STATE_SIZE,
)
from referee.rules.jit import ctz, jit, popcount, random_below

__all__ = [
    "DTYPE",
    "KEY_SIZE",
    "MAX_MOVES",
    "PIECE_VALUES",
    "STATE_SIZE",
    "VALUE_GROUPS",
    "captures",
    "count",
    "evaluate",
    "frozen",
    "in_check",
    "legal",
    "play",
    "playout",
    "quiet_eval",
    "result",
    "victims",
]

DTYPE = np.uint64
MAX_MOVES = 512
"""An upper bound. Each of n own pieces has at most 27 destinations. Each of the 64 - n other squares is reached by at
most one piece in each direction, since own pieces block. So 27 n and 8 (64 - n) + n both bound the number of moves:
together below 420.
"""

# Reason numbers, in the order of `Rules.reasons` in rules.py.
BY_CHECKMATE, BY_STALEMATE, BY_BARE_KINGS, BY_NO_CAPTURE, BY_REPETITION, BY_MAX_PLIES = range(6)
DRAW = 3

LAST = np.uint64(LAST_COUNT)


@jit
def count_moves(u: Any, v: Any, check: Any, risk: Any, baits: Any, style: Any) -> Any:
    """Count the legal moves; pieces that cannot affect the king's safety are counted in bulk."""
    own = occupied(u)
    foe = occupied(v)
    z = frozen_squares(u, v, style) & own
    n = 0
    rest = own if check or baits else risk
    if not (check or baits):
        # The pieces whose moves need no test are counted together by fills.
        easy = ~(z | risk)
        e = ~(own | foe)
        n += count_slides(u[0] & easy, queens(u) & easy, e)
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
def can_move(u: Any, v: Any, check: Any, risk: Any, baits: Any, style: Any) -> Any:
    """Return whether there is a legal move. One step of a piece that cannot affect the king's safety suffices."""
    own = occupied(u)
    foe = occupied(v)
    z = frozen_squares(u, v, style) & own
    if not (check or baits):
        easy = ~(z | risk)
        e = ~(own | foe)
        g = queens(u) & easy
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
            if not ((f & risk) | (x & baits)) or is_safe(piece, f, t, x, u, v, style):
                return True
    return False


@jit
def legal(state: Any, config: Any, moves: Any) -> Any:
    style = style_of(config)
    u, v = sides(state)
    own = occupied(u)
    foe = occupied(v)
    _, risk, baits = dangers(u, v, own, foe, style)
    z = frozen_squares(u, v, style)
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
    check, risk, baits = dangers(u, v, occupied(u), occupied(v), style)
    return count_moves(u, v, check, risk, baits, style)


@jit
def play(state: Any, config: Any, move: Any, out: Any) -> Any:
    style = style_of(config)
    u, v = sides(state)
    f = ONE << np.uint64(move // 64)
    t = ONE << np.uint64(move % 64)
    piece = kind(u, f)
    x = captured(piece, f, t, u, v, occupied(u), occupied(v), style)
    # Of a suicide f and t are one square: toggled once, the piece is gone.
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
    check, risk, baits = dangers(u, v, occupied(u), occupied(v), style)
    # Mate and stalemate come before all limits, so a mate on the last ply counts.
    if not can_move(u, v, check, risk, baits, style):
        return blocked(check, np.int64(state[SIDE]), config)
    return drawn(u, v, np.int64(state[QUIET]), np.int64(state[PLIES]), occurrences, config)


@jit
def drawn(u: Any, v: Any, quiet: Any, plies: Any, occurrences: Any, config: Any) -> Any:
    """Return the result code of the first limit that is reached: bare kings, no capture, repetition, plies; else 0."""
    if config[BARE_KINGS_DRAW] and is_bare(u, v):
        return BY_BARE_KINGS * 4 + DRAW
    if config[NO_CAPTURE_LIMIT] and quiet >= config[NO_CAPTURE_LIMIT]:
        return BY_NO_CAPTURE * 4 + DRAW
    if config[REPETITION] and occurrences >= config[REPETITION]:
        return BY_REPETITION * 4 + DRAW
    if config[MAX_PLIES] and plies >= config[MAX_PLIES]:
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
        check, risk, baits = dangers(u, v, own, foe, style)
        z = frozen_squares(u, v, style)
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
        code = drawn(u, v, quiet, before + plies, 0, config)  # a random game has no memory of positions
        if code:
            return code, plies
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
def victims(state: Any, config: Any, move: Any) -> Any:
    """Return the squares of the enemies that a move captures, as a bitboard."""
    u, v = sides(state)
    f = ONE << np.uint64(move // 64)
    t = ONE << np.uint64(move % 64)
    return captured(kind(u, f), f, t, u, v, occupied(u), occupied(v), style_of(config))
