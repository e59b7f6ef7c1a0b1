"""The layout of the state array and the config, and the conversion of a state to and from a dictionary.

0..3   cells whose top (or only) cube is White's rock, paper, scissors, wise
4..7   the same for Black
8..11  cells of stacks whose bottom cube is a rock, paper, scissors, wise (its colour is that of the top)
12     side to move (0 White, 1 Black), plus 2 in the swap phase          -- up to here the key --
13     plies since the last capture
14     turn number, raised after Black
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from referee.rules.pijersi.tables import CELL_NAMES, CELL_NUMBERS
from referee.rules.rules import Config, State

TOPS = 0
BOTTOMS = 8
PHASE = 12
HALF = 13
FULL = 14
STATE_SIZE = 15
KEY_SIZE = PHASE + 1
SWAPPING = 2

SWAP = 1 << 18
"""The code of the pass in the swap phase, and the base of all swaps; codes of turns are smaller.

A turn is `start << 12 | mid << 6 | end + 1`, with 0 in place of `end + 1` for a turn of two cells. A swap is
`SWAP | low << 6 | high`, the numbers of its two cells; those of the pass are equal.
"""

NO_CAPTURE_LIMIT, REPETITION, SWAP_PHASE = range(3)
"""Indices in a `Config`."""

ROLES = "RPSW"
ROLE_NAMES = dict(zip(ROLES, ("rock", "paper", "scissors", "wise"), strict=True))


def side(state: State, config: Config) -> int:
    """Return 0 when White, the first side, is to move, else 1."""
    return int(state[PHASE]) & 1


def is_swapping(state: State, config: Config) -> bool:
    """Return whether a position is in the swap phase."""
    return bool(state[PHASE] & SWAPPING)


def _members(cells: int) -> Iterator[int]:
    """Yield the cells of a set, ascending."""
    while cells:
        yield (cells & -cells).bit_length() - 1
        cells &= cells - 1


def pieces_of(state: State) -> dict[str, str]:
    """Return the occupied cells by name, in cell order, with cubes bottom first (`WR` = a white rock on a wise)."""
    words = state.tolist()
    pieces: dict[int, str] = {}
    for place, symbol in enumerate("RPSWrpsw"):
        for cell in _members(words[TOPS + place]):
            pieces[cell] = symbol
    for place, symbol in enumerate(ROLES, start=BOTTOMS):
        for cell in _members(words[place]):
            top = pieces[cell]
            pieces[cell] = (symbol if top.isupper() else symbol.lower()) + top
    return {CELL_NAMES[cell]: pieces[cell] for cell in sorted(pieces)}


def state_of(
    pieces: Mapping[str, str], *, side: int = 0, swapping: bool = False, half: int = 0, full: int = 1
) -> State:
    """Return the state with these cubes (bottom first), which must obey the stacking rules."""
    state = np.zeros(STATE_SIZE, dtype=np.int64)
    for cell, cubes in pieces.items():
        bit = 1 << CELL_NUMBERS[cell]
        state[TOPS + 4 * cubes.islower() + ROLES.index(cubes[-1].upper())] |= bit
        if len(cubes) == 2:
            state[BOTTOMS + ROLES.index(cubes[0].upper())] |= bit
    state[PHASE] = side + SWAPPING * swapping
    state[HALF] = half
    state[FULL] = full
    return state
