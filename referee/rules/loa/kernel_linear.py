"""Features of a linear evaluation on the 8x8 board: every line as a number in base 3, and the outline of each side.

Letters as in `kernel_ternary`; `a` is always the side to move, so a line's number tells which side may capture on it.

    of each line   its number, separate for each kind: ranks and files by distance from the edge, diagonals by length
    of each side   number of groups and size of the largest; number of pieces and their mean distance from their
                   centre; the place of that centre; numbers of 2x2 squares with three and with four pieces
    of both        the numbers of their pieces
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from referee.rules.jit import ctz, jit, popcount
from referee.rules.loa.kernel_shape import DISTANCE, GROUP
from referee.rules.loa.kernel_ternary import by_file, by_rank, far, filled8, grown8, step
from referee.rules.loa.tables import COUNTS, DIGITS8, EMPTY8, FILE8, LINE8, OFFSET, SQUARES8, TERNARY

U0, U1, U2 = np.uint64(0), np.uint64(1), np.uint64(2)
FILE_A = np.uint64(0x0101010101010101)
U8, U9 = np.uint64(8), np.uint64(9)
LONG = 3**8
DIAGONALS = 4 * LONG
"""First feature of the diagonals, after those of ranks and files."""
PLACES, SIZES, STEPS = 15, 13, 64
"""Number of half squares from edge to edge, of piece counts (0..12), and of mean distances (in eighths of a square)."""
GROUPS = DIAGONALS + TERNARY
SPREAD = GROUPS + 2 * SIZES * SIZES
CENTRE = SPREAD + 2 * SIZES * STEPS
QUADS = CENTRE + 2 * PLACES * PLACES
NUMBERS = QUADS + 2 * 64
LINEAR_FEATURE_COUNT = NUMBERS + SIZES * SIZES
MAX_LINEAR_FEATURES = 46 + 2 * 4 + 1
MOBILITY = 4
"""Static score of each move more than the opponent has."""
MAX_GROUPS = 5
"""Largest number of groups that one move can connect: that of the moving piece and at most four others."""

ODD = np.uint64(0xFF00FF00FF00FF00), np.uint64(0xAAAAAAAAAAAAAAAA)
PAIRS = np.uint64(0xFFFF0000FFFF0000), np.uint64(0xCCCCCCCCCCCCCCCC)
HALF = np.uint64(0xFFFFFFFF00000000), np.uint64(0xF0F0F0F0F0F0F0F0)
WITH_NEXT = np.uint64(0x007F7F7F7F7F7F7F)
"""The squares with one above and one to the right."""


def _bases() -> npt.NDArray[np.uint64]:
    """Return the number of the first feature of each of the 46 lines."""
    kinds = [LONG * min(line & 7, 7 - (line & 7)) for line in range(16)]
    return np.array(kinds + [DIAGONALS + int(EMPTY8[line]) for line in range(16, 46)], dtype=np.uint64)


def _beyond() -> npt.NDArray[np.uint64]:
    """Return, by [centre, d], the squares more than d half squares away from the centre.

    A centre is given in half squares as rank * PLACES + file.
    """
    rank, file = np.divmod(np.arange(PLACES * PLACES)[:, None], PLACES)
    square = np.arange(64)
    distance = np.maximum(abs(2 * (square >> 3) - rank), abs(2 * (square & 7) - file))
    is_beyond = distance[:, None, :] > np.arange(16)[:, None]
    return np.packbits(is_beyond, axis=2, bitorder="little").view("<u8")[..., 0].astype(np.uint64)


def _tied() -> npt.NDArray[np.int64]:
    """Return, for every feature, the smallest number among its images under rotations and reflections of the board."""
    smallest = np.arange(LINEAR_FEATURE_COUNT)
    for first, length in [*((LONG * kind, 8) for kind in range(4)), *((DIAGONALS + OFFSET[n], n) for n in range(1, 9))]:
        digits = np.arange(3**length)[:, None] // 3 ** np.arange(length) % 3
        back = (digits[:, ::-1] * 3 ** np.arange(length)).sum(axis=1)
        smallest[first : first + 3**length] = first + np.minimum(np.arange(3**length), back)
    centre = np.arange(QUADS - CENTRE) % (PLACES * PLACES)
    near, off = np.sort(
        [np.minimum(coordinate, PLACES - 1 - coordinate) for coordinate in np.divmod(centre, PLACES)], axis=0
    )
    smallest[CENTRE:QUADS] += near * PLACES + off - centre
    return smallest


def _prior() -> npt.NDArray[np.float64]:
    """Return weights that approximate `Kernel.evaluate`: mobility, groups, and the distance from the centre."""
    weights = np.zeros(LINEAR_FEATURE_COUNT)
    lead = MOBILITY * (COUNTS[:TERNARY] - COUNTS[TERNARY:])
    weights[:DIAGONALS] = np.tile(lead[OFFSET[8] : OFFSET[9]], 4)
    weights[DIAGONALS:GROUPS] = lead
    groups = -GROUP * np.repeat(np.arange(SIZES), SIZES)
    spread = -2 * DISTANCE * np.tile(np.arange(STEPS), SIZES)  # there in sixteenths of a square
    weights[GROUPS:SPREAD] = np.concatenate([groups, -groups])
    weights[SPREAD:CENTRE] = np.concatenate([spread, -spread])
    return weights


BASES, BEYOND, TIED_FEATURES, PRIOR_WEIGHTS = _bases(), _beyond(), _tied(), _prior()


@jit
def connects8(a: Any, b: Any) -> bool:
    """Return whether some move of the side whose pieces are `a` connects them without connecting those of `b`."""
    left = a
    while left != U0:
        i = ctz(left)
        bit = U1 << np.uint64(i)
        left ^= bit
        rest = a ^ bit
        # Far cheaper than the flood fills below, and often enough.
        if far(rest):
            continue
        part = filled8(rest, rest & (~rest + U1))
        for d in range(4):
            squares = SQUARES8[LINE8[4 * i + d]]
            c = popcount((a | b) & squares) * abs(step(d))
            for j in (i - c, i + c):
                to = U1 << np.uint64(j & 63)
                if 0 <= j < 64 and squares & ~a & to != U0:
                    low, high = np.uint64(min(i, j)), np.uint64(max(i, j))
                    if b & squares & ((U1 << high) - (U2 << low)) != U0:
                        continue
                    # The piece must touch every group, so also this one: cheaper than the fill that would show it.
                    if grown8(to) & part == U0 and rest != U0:
                        continue
                    if filled8(rest | to, to) == rest | to:
                        # A capture may connect the other side too: then the rules decide, and the win is not certain.
                        gone = b & ~to
                        if gone == b or filled8(gone, gone & (~gone + U1)) != gone:
                            return True
    return False


@jit
def outline8(a: Any, side: int, features: Any, n: int) -> int:
    """Write the four features of the pieces `a` of a side (0 to move, 1 waiting) to `features[n..]`; return the number of
    groups.
    """
    k = popcount(a)
    groups, largest = 0, 0
    rest = a
    while rest != U0:
        part = filled8(rest, rest & (~rest + U1))
        rest ^= part
        groups += 1
        largest = max(largest, popcount(part))
    max_size = SIZES - 1
    features[n] = GROUPS + (side * SIZES + min(groups, max_size)) * SIZES + min(largest, max_size)
    ranks = popcount(a & ODD[0]) + 2 * popcount(a & PAIRS[0]) + 4 * popcount(a & HALF[0])
    files = popcount(a & ODD[1]) + 2 * popcount(a & PAIRS[1]) + 4 * popcount(a & HALF[1])
    # Twice the mean, rounded: a centre is counted in half squares.
    centre = (4 * ranks + k) // (2 * k) * PLACES + (4 * files + k) // (2 * k)
    distance, d = 0, 0
    out = a & BEYOND[centre, 0]
    while out != U0:
        distance += popcount(out)
        d += 1
        out = a & BEYOND[centre, d]
    features[n + 1] = SPREAD + (side * SIZES + min(k, max_size)) * STEPS + min(4 * distance // k, STEPS - 1)
    features[n + 2] = CENTRE + side * PLACES * PLACES + centre
    right, up, across = a >> U1, a >> U8, a >> U9
    both, either, above, any_above = a & right, a ^ right, up & across, up ^ across
    three = (both & any_above | either & above) & WITH_NEXT
    features[n + 3] = QUADS + side * 64 + 8 * min(popcount(three), 7) + min(popcount(both & above & WITH_NEXT), 7)
    return groups


@jit
def linear_features8(a: Any, b: Any, features: Any) -> int:
    """Write the features of a position, `a` to move, to `features`; return their number, or -1 if a move wins at once."""
    if outline8(a, 0, features, 46) <= MAX_GROUPS and connects8(a, b):
        return -1
    outline8(b, 1, features, 50)
    features[54] = NUMBERS + min(popcount(a), SIZES - 1) * SIZES + min(popcount(b), SIZES - 1)
    for f in range(8):
        own, opp = by_rank(a >> np.uint64(f) & FILE_A), by_rank(b >> np.uint64(f) & FILE_A)
        features[8 + f] = np.int64(BASES[8 + f] + DIGITS8[own] + U2 * DIGITS8[opp])
    for l in range(46):
        if not 8 <= l < 16:
            own, opp = by_file(a & SQUARES8[l]) >> FILE8[l], by_file(b & SQUARES8[l]) >> FILE8[l]
            features[l] = np.int64(BASES[l] + DIGITS8[own] + U2 * DIGITS8[opp])
    return MAX_LINEAR_FEATURES
