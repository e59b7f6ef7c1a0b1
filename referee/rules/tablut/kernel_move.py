"""Listing, choosing and playing moves of Tablut.

A move is start cell * 81 + end cell. Letters as in `kernel_board`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from referee.rules.jit import borrowing, ctz
from referee.rules.rules import Config, State
from referee.rules.tablut.kernel_board import advance, live_bases
from referee.rules.tablut.kernel_line import bits, king_line, soldier_line
from referee.rules.tablut.state import KING, SIDE, STATE_SIZE


@borrowing
def lowest(b: int) -> int:
    """Return the index of the lowest set bit."""
    return ctz(np.uint64(b))  # type: ignore[no-any-return]


@borrowing
def list_moves(s: State, m: int, moves: npt.NDArray[np.int64]) -> int:
    """Write the moves of the side to move in ascending order, even on a decided board; return their number.

    Raise OverflowError rather than write past the buffer.
    """
    side, n = int(s[SIDE]), 0
    live = live_bases(s, m)
    for x in range(9):
        own = int(s[18 * side + 9 + x])
        file = int(s[9 + x] | s[27 + x])
        while own != 0:
            y = lowest(own)
            own &= own - 1
            start, rank = x * 9 + y, int(s[y] | s[18 + y])
            if s[KING] == start:
                across, along = king_line(y, x, rank, live, m), king_line(9 + x, y, file, live, m)
            else:
                across, along = soldier_line(y, x, rank, side, m), soldier_line(9 + x, y, file, side, m)
            if n + bits(across) + bits(along) > moves.shape[0]:
                raise OverflowError("more moves than the buffer holds")
            # Ascending codes: targets on lower files come first, then those on the own file, then those on higher ones.
            left = across & ((1 << x) - 1)
            right = across ^ left
            while left != 0:
                moves[n] = start * 81 + lowest(left) * 9 + y
                left &= left - 1
                n += 1
            while along != 0:
                moves[n] = start * 81 + x * 9 + lowest(along)
                along &= along - 1
                n += 1
            while right != 0:
                moves[n] = start * 81 + lowest(right) * 9 + y
                right &= right - 1
                n += 1
    return n


@borrowing
def nth_move(s: State, m: int, n: int) -> int:
    """Return the n-th (from 0) of the moves in ascending order; -1 if there are fewer."""
    side = int(s[SIDE])
    live = live_bases(s, m)
    for x in range(9):
        own = int(s[18 * side + 9 + x])
        file = int(s[9 + x] | s[27 + x])
        while own != 0:
            y = lowest(own)
            own &= own - 1
            start, rank = x * 9 + y, int(s[y] | s[18 + y])
            if s[KING] == start:
                across, along = king_line(y, x, rank, live, m), king_line(9 + x, y, file, live, m)
            else:
                across, along = soldier_line(y, x, rank, side, m), soldier_line(9 + x, y, file, side, m)
            here = bits(across) + bits(along)
            if n >= here:
                n -= here
                continue
            left = across & ((1 << x) - 1)
            first, second = bits(left), bits(along)
            if n < first:
                return start * 81 + nth_bit(left, n) * 9 + y
            if n < first + second:
                return start * 81 + x * 9 + nth_bit(along, n - first)
            return start * 81 + nth_bit(across ^ left, n - first - second) * 9 + y
    return -1


@borrowing
def nth_bit(b: int, n: int) -> int:
    """Return the index of the n-th (from 0) set bit."""
    for _ in range(n):
        b &= b - 1
    return lowest(b)


@borrowing
def play_into(s: State, c: Config, m: int, move: int, out: State) -> None:
    """Write the position after a move to `out`."""
    for i in range(STATE_SIZE):
        out[i] = s[i]
    advance(out, c, m, move)
