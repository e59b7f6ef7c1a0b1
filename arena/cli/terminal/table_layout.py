"""A table as lines of text that fit a width: the least important columns are dropped, then long texts shortened.

No word and no number is broken. Refuses to know where the lines go and what the columns mean.
"""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

GAP = "  "
LEAST = 10
"""A text is shortened to no less than this."""
WELL = 24
"""What a text gets before other columns are dropped for it."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a table: their headings, and what may be done with them.

    `numbers` are aligned to the right and never cut. `drop`: those that go first where there is no room, in this order.
    `wrap`: those whose words go on in the next line; any other text is shortened.
    """

    names: tuple[str, ...]
    numbers: frozenset[str] = frozenset()
    drop: tuple[str, ...] = ()
    wrap: frozenset[str] = frozenset()


def cells_of(text: str) -> int:
    """How many cells of a terminal a text takes."""
    if text.isascii():
        return len(text)
    marks = sum(unicodedata.combining(letter) != 0 for letter in text)
    return len(text) - marks + sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)


def lines(columns: Columns, rows: Iterable[Sequence[str]], width: int | None = None) -> list[str]:
    """The heading, then the rows, of `width` cells at most where that is possible; None: as wide as it needs."""
    kept = [list(row) for row in rows]
    names = list(columns.names)
    widths = [max([cells_of(name), *(cells_of(row[at]) for row in kept)]) for at, name in enumerate(names)]
    if width is not None:
        names, kept, widths = _dropped(columns, names, kept, widths, width)
        _narrow(columns, names, widths, width)
    found = [_line(columns, names, names, widths)]
    for row in kept:
        found += _row(columns, names, row, widths)
    return found


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(GAP) * (len(widths) - 1)


def _dropped(
    columns: Columns, names: list[str], rows: list[list[str]], widths: list[int], width: int
) -> tuple[list[str], list[list[str]], list[int]]:
    """Without the least important columns, as far as that is needed for the others to be read well."""
    wanted = [
        size if name in columns.numbers else min(size, max(WELL, cells_of(name)))
        for name, size in zip(names, widths, strict=True)
    ]
    left = [at for at in range(len(names)) if not rows or any(row[at] for row in rows)]
    for name in columns.drop:
        if name in names and names.index(name) in left and _total([wanted[at] for at in left]) > width:
            left.remove(names.index(name))
    return [names[at] for at in left], [[row[at] for at in left] for row in rows], [widths[at] for at in left]


def _narrow(columns: Columns, names: list[str], widths: list[int], width: int) -> None:
    """Take room from the widest texts until all fits."""
    texts = [at for at, name in enumerate(names) if name not in columns.numbers]
    while _total(widths) > width:
        possible = [at for at in texts if widths[at] > max(LEAST, cells_of(names[at]))]
        if not possible:
            return
        widths[max(possible, key=lambda at: widths[at])] -= 1


def _row(columns: Columns, names: list[str], row: list[str], widths: list[int]) -> list[str]:
    """A row; several lines where a text goes on."""
    parts = [
        (_words(cell, size) if name in columns.wrap else [_shortened(cell, size)])
        for name, cell, size in zip(names, row, widths, strict=True)
    ]
    height = max(len(part) for part in parts)
    return [
        _line(columns, names, [part[at] if at < len(part) else "" for part in parts], widths) for at in range(height)
    ]


def _words(text: str, width: int) -> list[str]:
    if cells_of(text) <= width:
        return [text]
    pieces = textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
    return [_shortened(piece, width) for piece in pieces]


def _shortened(text: str, width: int) -> str:
    if cells_of(text) <= width:
        return text
    while cells_of(text) > width - 1:
        text = text[:-1]
    return f"{text}…"


def _line(columns: Columns, names: Sequence[str], cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = []
    for name, cell, size in zip(names, cells, widths, strict=True):
        blank = " " * (size - cells_of(cell))
        padded.append(f"{blank}{cell}" if name in columns.numbers else f"{cell}{blank}")
    return GAP.join(padded).rstrip()
