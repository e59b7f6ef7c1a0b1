"""Tables of games: a row for each pair of moves, its number before it, the names of the sides above.

What a cell holds, and what else stands in a game's text, is for each notation to say.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest
from typing import Final

from referee.rules.names import fold
from referee.rules.rules import Rules

Row = tuple[str, ...]
"""A number, the move of the side that begins, the other's, and perhaps more."""

NO_MOVE: Final = "..."
"""What holds the place of a move that is not there."""
_TITLES: Final = frozenset(
    {"n", "no", "nr", "number", "numero", "coup", "coups", "tour", "move", "moves", "ply", "turn", "score"}
)
"""What may stand above a column besides the names of the sides."""
_RULED: Final = re.compile(r"[\s|:+=_─-]*")
_NARROW, _WIDE = 10, 24


def rows(words: Sequence[str], number: int, side: int) -> list[Row]:
    """The moves in rows, the first of them `number`; `side` (1: the second) is the one that begins."""
    cells = [NO_MOVE] * side + list(words)
    pairs = zip_longest(cells[::2], cells[1::2], fillvalue="") if words else ()
    return [(f"{number + place}.", *pair) for place, pair in enumerate(pairs)]


def lines(titles: Sequence[str], table: Sequence[Row]) -> list[str]:
    """The lines of a table, its columns under each other as far as they are no wider than usual."""
    shown = [("", *titles), *table]
    widths = [
        min(_WIDE, max([_NARROW, *(len(cell) for cell in column if len(cell) <= _WIDE)]))
        for column in zip_longest(*(row[1:] for row in shown), fillvalue="")
    ]
    return [
        f"{row[0]:>5}  {' '.join(cell.ljust(width) for cell, width in zip(row[1:], widths, strict=False))}".rstrip()
        for row in shown
    ]


def is_heading(line: str, rules: Rules) -> bool:
    """Whether a line is the titles of a table's columns: names of sides, and words for numbers and scores."""
    sides, is_named = rules.folded_sides, False
    for word in re.split(r"[\s|]+", line.strip(" \t\r\n|")):
        column = fold(word)
        if column in sides:
            is_named = True
        elif column and column not in _TITLES:
            return False
    return is_named


def is_ruled(line: str) -> bool:
    """Whether a line only draws one."""
    return bool(line.strip()) and _RULED.fullmatch(line) is not None
