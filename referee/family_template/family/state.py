"""The layout of a state and a config, and the move codes.

    0..8   the squares: 0 empty, 1 White, 2 Black
    9      side to move: 0 White, 1 Black       -- up to here the key: positions with equal keys are equal --
    10     plies played

A move is source * 9 + target.
"""

from __future__ import annotations

from referee.rules.rules import Config, State

STATE_SIZE, KEY_SIZE = 11, 10
TURN, PLIES = 9, 10

(MAX_PLIES,) = range(1)
"""Indices in a `Config`: the options in their order, then the parameters of the variant."""


def side(state: State, config: Config) -> int:
    """Return 0 when White, the first side, is to move, else 1."""
    return int(state[TURN])
