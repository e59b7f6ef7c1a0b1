"""The layout of a state, a config and a move code, and conversions between states and squares.

A square is `rank * 16 + file` (both from 0) on every board, and a move is `source * 256 + target`. So a code means the
same text whatever the board size. A state is an array of uint64:

    0..2  the squares of the first side (Black), one bit each    8   the square banned to the neutral piece + 1, or 0
    3..5  the squares of the second side (White)                 9   plies played
    6     the neutral piece's square + 1, 0 = none               10  move number
    7     side to move, 0 or 1

On the 8x8 board one word is enough: bit `rank * 8 + file`. On larger boards four ranks of sixteen bits share a word:
bit `square % 64` of word `square // 64`. This module does not need numba.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np

from referee.rules.rules import Config, State

FIRST, SECOND, NEUTRAL, SIDE, BAN, PLIES, NUMBER = 0, 3, 6, 7, 8, 9, 10
STATE_SIZE, KEY_SIZE = 11, 9

SIMULTANEOUS, NO_MOVES, REPETITION, REPETITION_RESULT, MAX_PLIES, SIZE, HOLE, ZEN = range(8)
"""Indices in a `Config`: five options, then board size, hole square (-1 = none), 1 for a neutral piece."""

PASS = 256 * 256


def side(state: State, config: Config) -> int:
    """Return 0 when Black, the first side, is to move, else 1."""
    return int(state[SIDE])


@cache
def square_name(square: int) -> str:
    """Return the name of a square: `a1` for 0, `b1` for 1, `a2` for 16."""
    return f"{chr(ord('a') + square % 16)}{square // 16 + 1}"


def _bit(square: int, size: int) -> tuple[int, int]:
    """Return the word (0..2) and the bit number of a square on a board of `size`."""
    rank, file = divmod(square, 16)
    return (0, rank * 8 + file) if size == 8 else (square // 64, square % 64)


def squares(size: int) -> list[int]:
    """Return all squares of a board, ascending."""
    return [rank * 16 + file for rank in range(size) for file in range(size)]


@cache
def _places(size: int) -> list[tuple[int, int, int]]:
    """Return all squares of a board, ascending, each with its word (0..2) and its bit there."""
    return [(square, word, 1 << bit) for square in squares(size) for word, bit in [_bit(square, size)]]


def unpack(state: State, config: Config) -> dict[int, str]:
    """Return the piece symbol (`b`, `w`, `z`) on every occupied square, in ascending order of squares."""
    size = int(config[SIZE])
    words = state[: NEUTRAL + 1].tolist()
    neutral, pieces = words[NEUTRAL] - 1, {}
    for square, word, bit in _places(size):
        if words[FIRST + word] & bit:
            pieces[square] = "b"
        elif words[SECOND + word] & bit:
            pieces[square] = "w"
        elif square == neutral:
            pieces[square] = "z"
    return pieces


def pack(
    pieces: Mapping[int, str], config: Config, *, side: int = 0, ban: int = -1, number: int = 1, plies: int = 0
) -> State:
    """Return the state with `pieces` (square to symbol) on the board; `ban` is a square or -1."""
    size = int(config[SIZE])
    words = [0] * STATE_SIZE
    for square, symbol in pieces.items():
        if symbol == "z":
            words[NEUTRAL] = square + 1
        else:
            word, bit = _bit(square, size)
            words[(FIRST if symbol == "b" else SECOND) + word] |= 1 << bit
    words[SIDE], words[BAN], words[PLIES], words[NUMBER] = side, ban + 1, plies, number
    return np.array(words, dtype=np.uint64)
