"""The layout of a state and a config, and the names of the pieces, shared by texts and kernel.

A state is 18 uint64: seven bitboards of White in the order of `LETTERS`, seven of Black, then the values named below.
"""

from __future__ import annotations

from referee.rules.rules import Config, State

LETTERS = "PRNBQMK"
"""The kinds of pieces in the order of the bitboards."""
NAMES = ("pincer", "coordinator", "leaper", "chameleon", "withdrawer", "immobilizer", "king")
SYMBOLS = LETTERS + LETTERS.lower()
"""The letter of each of the fourteen bitboards."""

SIDE = 14
"""Side to move: 0 White, 1 Black."""
QUIET = 15
"""Plies since a piece last left the board."""
NUMBER = 16
"""The move number, growing after Black's moves."""
PLIES = 17
"""Plies played in this game; 0 in every position read from text."""

KEY_SIZE = 15
STATE_SIZE = 18

(
    IMMOBILIZER,
    SUICIDE,
    CHAMELEON_LEAP_COMBINES,
    LEAPER_MAX_CAPTURES,
    STALEMATE,
    REPETITION,
    NO_CAPTURE_LIMIT,
    BARE_KINGS_DRAW,
    MAX_PLIES,
    INDEX,
    INDEX_WHITE,
    INDEX_BLACK,
) = range(12)
"""Indices in a `Config`. The kernel ignores the numbers of back rows, the last three."""

LAST_COUNT = 999_999_999
"""Maximum of the counters, so that every position can be read again."""


def side(state: State, config: Config) -> int:
    """Return 0 when White, the first side, is to move, else 1."""
    return int(state[SIDE])
