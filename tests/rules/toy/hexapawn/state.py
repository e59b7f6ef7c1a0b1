"""The layout of a state and a config, and the move codes.

    0..11  the squares: 0 empty, 1 White, 2 Black, 3 a tower of White, 4 a tower of Black (two pawns)
    12     side to move (0 White, 1 Black), plus 2 in the gift phase          -- up to here the key --
    13     plies played

A move is source * 16 + target, `PASS`, or `GIVEN + square`, which removes an own pawn from the board.
"""

from __future__ import annotations

from referee.rules.rules import Config, State

STATE_SIZE, KEY_SIZE = 14, 13
TURN, PLIES = 12, 13
GIVING = 2

NO_MOVES, REPETITION, MAX_PLIES, GIFT, WIDTH, HAS_TOWERS = range(6)
"""Indices in a `Config`: the options, then the variant's parameters."""

PASS, GIVEN = 256, 512


def side(state: State, config: Config) -> int:
    """Return 0 when White, the first side, is to move, else 1."""
    return int(state[TURN]) & 1


def is_giving(state: State, config: Config) -> bool:
    """Return whether a position is in the gift phase."""
    return bool(state[TURN] & GIVING)
