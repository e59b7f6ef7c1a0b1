"""Where each rule option stands in a `Config`, and the numbers of the values the code asks for by name.

The order is that of `rules.OPTIONS`; a test holds the two together. Refuses to know what the options do.
"""

from __future__ import annotations

(
    FIRST_PLAYER,
    GOAL,
    KING_BASES,
    KING_BASES_WHEN,
    KING_MAX_STEP,
    KING_EDGE_CAPTURE,
    KING_ARMED,
    KING_REENTER,
    THRONE_PASS,
    THRONE_HOSTILE,
    THRONE_KING_HOSTILE,
    KING_CAPTURE,
    CAMP_ENTRY,
    CAMP_HOSTILE,
    TUICHI_WINS,
    NO_MOVES,
    REPETITION,
    REPETITION_RESULT,
    PERPETUAL_RAICHI,
    NO_CAPTURE_LIMIT,
    MAX_PLIES,
) = range(21)

FORBIDDEN = 2  # king_bases
OCCUPIED = 1  # king_bases_when
PASS_NONE, PASS_ALL = 1, 2  # throne_pass
HOSTILE_TO_ATTACKERS, HOSTILE_TO_DEFENDERS, HOSTILE_TO_BOTH = 1, 2, 3  # throne_hostile
LINNAEAN, ALWAYS = 1, 2  # throne_king_hostile
CUSTODIAL = 1  # king_capture
CLOSED = 1  # camp_entry
ASHTON = 1  # camp_hostile
DRAW = 1  # no_moves
LOSS = 1  # repetition_result
DEFENDERS_LOSE = 1  # perpetual_raichi
