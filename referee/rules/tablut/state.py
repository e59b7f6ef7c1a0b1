"""The layout of a state and a config, the numbers of option values that the code uses by name, and the pieces.

A state is 41 int32:

    0..17   attackers' bits of the 18 lines (ranks 1-9: bit = file; files a-i: bit = rank)
    18..35  defenders' bits of the same lines, the king among them
    36      the king's cell (file * 9 + rank), -1 when captured
    37      side to move: 0 attackers, 1 defenders
    38..40  counters: plies since the last capture, plies played, and (only under `perpetual_raichi`) how many
            of the latest attackers-to-move positions in a row left the king a free way

The order of the config is that of `rules.OPTIONS`; tests compare the two.
"""

from __future__ import annotations

from referee.rules.rules import Config, State
from referee.rules.tablut.tables import CELLS, LINES, SIZE

KING, SIDE, QUIET, PLY, RAICHI = 36, 37, 38, 39, 40
STATE_SIZE, KEY_SIZE = 41, 38

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


def side(state: State, config: Config) -> int:
    """Return 0 when the side that `first_player` names is to move, else 1."""
    return int(state[SIDE]) ^ int(config[FIRST_PLAYER])


def pieces_of(state: State) -> dict[int, str]:
    """Return the pieces of a state: cell number to `t`, `T` or `K`, in ascending order of cells."""
    pieces = {}
    for cell in range(CELLS):
        file, rank = divmod(cell, SIZE)
        if cell == state[KING]:
            pieces[cell] = "K"
        elif state[rank] >> file & 1:
            pieces[cell] = "t"
        elif state[LINES + rank] >> file & 1:
            pieces[cell] = "T"
    return pieces
