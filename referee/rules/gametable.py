"""Games as tables: one row per pair of moves, with the move number first, below a row with the names of the sides.

Each notation decides what a cell contains and what else a game's text has.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest
from typing import Final

from referee.rules.names import fold
from referee.rules.rules import Rules

Row = tuple[str, ...]
"""A number, the move of the side that begins, the other side's move, and optional further cells."""

NO_MOVE: Final = "..."
"""Placeholder for a missing move."""
_TITLES: Final = frozenset(
    {"n", "no", "nr", "number", "numero", "coup", "coups", "tour", "move", "moves", "ply", "turn", "score"}
)
"""Titles of columns other than the names of the sides."""
_RULED: Final = re.compile(r"[\s|:+=_─-]*")
_NARROW, _WIDE = 10, 24


def rows(words: Sequence[str], number: int, side: int) -> list[Row]:
    """Arrange the moves in rows numbered from `number`; `side` begins (0 the first, 1 the second)."""
    cells = [NO_MOVE] * side + list(words)
    pairs = zip_longest(cells[::2], cells[1::2], fillvalue="") if words else ()
    return [(f"{number + place}.", *pair) for place, pair in enumerate(pairs)]


def lines(titles: Sequence[str], table: Sequence[Row]) -> list[str]:
    """Return the lines of a table; cells of usual width are aligned in columns."""
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
    """Return whether a line consists of column titles: names of sides, and words for numbers and scores."""
    sides, is_named = rules.folded_sides, False
    for word in re.split(r"[\s|]+", line.strip(" \t\r\n|")):
        column = fold(word)
        if column in sides:
            is_named = True
        elif column and column not in _TITLES:
            return False
    return is_named


def is_ruled(line: str) -> bool:
    """Return whether a line contains only a horizontal rule."""
    return bool(line.strip()) and _RULED.fullmatch(line) is not None
