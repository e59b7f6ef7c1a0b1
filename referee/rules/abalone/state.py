"""The layout of a state and a config, and the effect of a move on the marbles, in plain Python.

A state is eight int64; the boards and the side to move are the key, the counters follow:

    0 BLACK  Black's marbles (bit set)       4 BY_WHITE  marbles ejected by White
    1 WHITE  White's marbles (bit set)       5 QUIET     plies since the last ejection
    2 SIDE   0 = Black to move, 1 = White    6 NUMBER    full move number, from 1
    3 BY_BLACK  marbles ejected by Black     7 PLIES     plies played in this game

The moves made here serve only to print ejection marks and scores and to draw. They are a slow second implementation
without numba; the kernel defines the rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from referee.rules.abalone.tables import DIRECTIONS, NEIGHBOURS, code_direction, code_line, code_shape
from referee.rules.rules import Config, State

STATE_SIZE, KEY_SIZE = 8, 3

BLACK, WHITE, SIDE, BY_BLACK, BY_WHITE, QUIET, NUMBER, PLIES = range(8)

WIN_SCORE, REPETITION, NO_EJECTION_LIMIT, MAX_PLIES, LIMIT_RESULT, NO_MOVES, MARK_EJECTIONS, SHOW_SCORE = range(8)
"""Indices of the options in a `Config`."""


def side(state: State, config: Config) -> int:
    """Return 0 when Black, the first side, is to move, else 1."""
    return int(state[SIDE])


class Boards(NamedTuple):
    """The cells of the mover's marbles, of the other side's, and the number of marbles pushed off (0 or 1)."""

    own: frozenset[int]
    enemy: frozenset[int]
    ejected: int


def move_marbles(own: frozenset[int], enemy: frozenset[int], code: int) -> Boards | None:
    """Return the boards after a move; None if the marbles do not allow it (see "A turn" in RULES.md)."""
    line = code_line(code)
    if not own.issuperset(line):
        return None
    ahead = NEIGHBOURS[code_direction(code)]
    return _sidestep(own, enemy, line, ahead) if code_shape(code) else _push(own, enemy, line[0], ahead)


def _sidestep(
    own: frozenset[int], enemy: frozenset[int], line: tuple[int, ...], ahead: Mapping[int, int]
) -> Boards | None:
    targets = {ahead[cell] for cell in line}
    if -1 in targets or targets & (own | enemy):
        return None
    return Boards(own - set(line) | targets, enemy, 0)


def _push(own: frozenset[int], enemy: frozenset[int], rear: int, ahead: Mapping[int, int]) -> Boards | None:
    front, length = rear, 0
    while front in own:
        front, length = ahead[front], length + 1
    if front < 0 or length > 3:
        return None
    moved = own - {rear} | {front}
    last, pushed = front, 0
    while last in enemy:
        last, pushed = ahead[last], pushed + 1
    if pushed == 0:
        return Boards(moved, enemy, 0)
    if pushed >= length or last in own:
        return None
    landed = frozenset({last}) if last >= 0 else frozenset()
    return Boards(moved, enemy - {front} | landed, 1 - len(landed))


def ejectable(own: frozenset[int], enemy: frozenset[int]) -> frozenset[int]:
    """Return the enemy marbles that `own` can push off the board with its next move."""
    ejected: set[int] = set()
    for direction in range(len(DIRECTIONS)):
        back = NEIGHBOURS[(direction + 3) % 6]
        for rim in enemy:
            if NEIGHBOURS[direction][rim] >= 0:
                continue
            run, cell = [0, 0], rim
            for side, marbles in enumerate((enemy, own)):
                while cell in marbles and run[side] < 3:
                    run[side] += 1
                    cell = back[cell]
            if run[1] > run[0]:
                ejected.add(rim)
    return frozenset(ejected)


def bits(cells: frozenset[int]) -> int:
    """Return a set of cells as a word with a bit for each cell."""
    return sum(1 << cell for cell in cells)


def cells(word: int) -> frozenset[int]:
    """Return the cells whose bits are set in a word."""
    return frozenset(cell for cell in range(word.bit_length()) if word >> cell & 1)


def boards(state: State) -> tuple[frozenset[int], frozenset[int]]:
    """Return the cells of the marbles of the side to move, and of the other side."""
    own, enemy = (WHITE, BLACK) if state[SIDE] else (BLACK, WHITE)
    return cells(int(state[own])), cells(int(state[enemy]))


def follow(state: State, code: int) -> State | None:
    """Return the state after a move without using the kernel; None if the marbles do not allow it."""
    moved = move_marbles(*boards(state), code)
    if moved is None:
        return None
    mover, after = int(state[SIDE]), state.copy()
    after[BLACK + mover], after[WHITE - mover] = bits(moved.own), bits(moved.enemy)
    after[SIDE] = 1 - mover
    after[BY_BLACK + mover] += moved.ejected
    after[QUIET] = 0 if moved.ejected else state[QUIET] + 1
    after[NUMBER] += mover
    after[PLIES] += 1
    return after
