"""What a move does to the marbles, in plain Python: for printing marks and scores, and for drawing.

Refuses to know sides, scores and texts. The rules themselves are the kernel's; this is their slow second spelling.
"""

from __future__ import annotations

from typing import NamedTuple

from referee.rules.abalone.tables import DIRECTIONS, NEIGHBOURS, code_direction, code_line, code_shape


class Boards(NamedTuple):
    """The cells of the mover's marbles, of the other side's, and of the marbles pushed off (0 or 1)."""

    own: frozenset[int]
    enemy: frozenset[int]
    ejected: int


def move_marbles(own: frozenset[int], enemy: frozenset[int], code: int) -> Boards | None:
    """The boards after a move; None when it cannot be made (rules, section 3)."""
    ahead = NEIGHBOURS[code_direction(code)]
    line = code_line(code)
    if not own.issuperset(line):
        return None
    if code_shape(code):
        targets = {ahead[cell] for cell in line}
        if -1 in targets or targets & (own | enemy):
            return None
        return Boards(own - set(line) | targets, enemy, 0)
    front, length = line[0], 0
    while front in own:
        front, length = ahead[front], length + 1
    if front < 0 or length > 3:
        return None
    moved = own - set(line) | {front}
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
    """The enemy marbles that `own` can push off the board with its next move."""
    found: set[int] = set()
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
                found.add(rim)
    return frozenset(found)


def bits(cells: frozenset[int]) -> int:
    """A set of cells as a word."""
    return sum(1 << cell for cell in cells)


def cells(word: int) -> frozenset[int]:
    """The cells of a word."""
    return frozenset(cell for cell in range(word.bit_length()) if word >> cell & 1)
