"""The reason that a move of Abalone is not legal, in the words of players."""

from __future__ import annotations

from referee.rules.abalone.state import BLACK, SIDE, WHITE
from referee.rules.abalone.tables import INLINE, NAMES, NEIGHBOURS, code_direction, code_line, code_shape
from referee.rules.rules import Config, State

LONGEST = 3
"""Marbles that move together at most."""


def refuse(code: int, state: State, config: Config) -> str:
    """Return why the move of marbles of the side to move is not legal; empty if nothing here explains it."""
    boards = (int(state[BLACK]), int(state[WHITE]))
    own, other = boards if not state[SIDE] else boards[::-1]
    ahead = NEIGHBOURS[code_direction(code)]
    if code_shape(code) == INLINE:
        return _refuse_push(code_line(code)[0], ahead, own, other)
    for cell in code_line(code):
        if not own >> cell & 1:
            return f"no marble of yours is on {NAMES[cell]}"
        if ahead[cell] < 0:
            return f"the marble on {NAMES[cell]} would leave the board"
        if (own | other) >> ahead[cell] & 1:
            return f"{NAMES[ahead[cell]]} is not empty, and marbles that step sideways push nothing"
    return ""


def _refuse_push(cell: int, ahead: dict[int, int], own: int, other: int) -> str:
    counts = []
    for side in (own, other):
        count = 0
        while cell >= 0 and side >> cell & 1:
            cell, count = ahead[cell], count + 1
        counts.append(count)
    length, against = counts
    if length > LONGEST:
        return f"{length} marbles are in this row, and at most three move together"
    if cell < 0 and not against:
        return "the row would push your own marble off the board"
    if against >= length:
        return f"this row cannot be pushed: {length} against {against}"
    return f"the marble on {NAMES[cell]} blocks the row" if own >> cell & 1 else ""
