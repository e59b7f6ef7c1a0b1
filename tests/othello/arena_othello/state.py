"""The layout of a state, and the move codes.

    0..63  the squares: 0 empty, 1 Black, 2 White
    64     side to move: 0 Black, 1 White

A move is the square of the new disc, or `PASS`.
"""

from __future__ import annotations

from referee.rules.rules import Config, State

STATE_SIZE, KEY_SIZE = 65, 65
TURN = 64
PASS = 64


def side(state: State, config: Config) -> int:
    """Return 0 when Black, the first side, is to move, else 1."""
    return int(state[TURN])
