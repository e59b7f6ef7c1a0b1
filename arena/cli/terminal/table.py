"""Tables and their cells: aligned text for files and pipes; on a terminal `rich` fits them to the window.

On a terminal the least important columns are dropped first, then long texts are shortened. Numbers are never cut.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import IO, Any, TypeVar

from rich.cells import cell_len

from arena.documents.table import Column, Interval, size_in_words

_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)?")
_RESULTS = {"first": "1-0", "second": "0-1", "draw": "½-½"}


def _elo(value: Interval) -> str:
    from referee.ratings.strength import elo_words

    return elo_words(value.middle, value.middle - value.margin, value.middle + value.margin)


def _share_of_points(value: float) -> str:
    return f"{value:+z.1%}"


FORMS: Mapping[str, Callable[[Any], str]] = {
    "advantage": _share_of_points,
    "count": "{:,}".format,
    "dump_digest": lambda digest: digest[:16],
    "elo": _elo,
    "points": "{:g}".format,
    "result": lambda winner: _RESULTS[winner],
    "share": lambda part: f"{100 * part:.1f} %",
    "share_of_points": _share_of_points,
    "share_range": lambda ends: f"{_share_of_points(ends[0])} to {_share_of_points(ends[1])}",
    "size": size_in_words,
    "signed": "{:+z.2f}".format,
    "strength": "{:z.1f}".format,
    "version_number": "v{}".format,
}
"""Forms of cells, see `Column`; those that only pages distinguish are missing."""


def written(value: object, form: str = "") -> str:
    """Return a value as a table shows it: by its form, else by its type; `-` for a missing one."""
    if value is None:
        return "-"
    if value == "":
        return ""
    if form in FORMS:
        return FORMS[form](value)
    return next(write(value) for kind, write in _BY_TYPE if isinstance(value, kind))


def _text(value: object) -> str:
    text = str(value)
    return text[:16].replace("T", " ") if _MOMENT.fullmatch(text) else text


_BY_TYPE: Sequence[tuple[type, Callable[[Any], str]]] = (
    (bool, lambda value: "yes" if value else "no"),
    (float, "{:z.2f}".format),
    (Interval, lambda value: f"{value.middle:z.2f} ± {value.margin:.2f}"),
    (datetime, lambda value: f"{value.astimezone(UTC) if value.tzinfo else value:%Y-%m-%d %H:%M}"),
    (list, lambda value: " ".join(map(str, value)) or "-"),
    (dict, lambda value: ", ".join(f"{name} {written(member)}" for name, member in value.items()) or "-"),
    (object, _text),
)


R = TypeVar("R")
GAP = 2
MIN_TEXT_WIDTH = 10
"""Texts are not shortened below this width."""
READABLE_TEXT_WIDTH = 24
"""A text column gets this width before other columns are kept."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of written cells below the titles of their columns."""

    columns: Sequence[Column[Any]]
    rows: Sequence[Sequence[str]]

    @classmethod
    def of(cls, columns: Iterable[Column[R]], rows: Iterable[R]) -> Table:
        """Return the table of these rows, with the columns for a terminal."""
        columns = tuple(columns)
        return cls(columns, [[written(column.cell(row), column.form) for column in columns] for row in rows])

    def plain_lines(self) -> list[str]:
        """Return the heading and the rows with all columns, as wide as needed."""
        widths = self._widths()
        return [self._line(row, widths) for row in (self._titles, *self.rows)]

    def print_fitted(self, stream: IO[str], width: int, *, has_colour: bool) -> None:
        """Print the table with at most `width` characters a line, as far as numbers and short texts allow."""
        from rich.console import Console
        from rich.table import Table as RichTable
        from rich.text import Text

        # With a height as well: rich gives a dumb terminal 80 columns unless both are set.
        console = Console(file=stream, width=width, height=24, color_system="standard" if has_colour else None)
        table = RichTable(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
        widths = self._widths()
        kept = self._kept(widths, width)
        for place in kept:
            column = self.columns[place]
            table.add_column(
                Text(column.title),
                justify="right" if column.is_number else "left",
                no_wrap=column.is_number,
                min_width=widths[place] if column.is_number else min(widths[place], MIN_TEXT_WIDTH),
            )
        for row in self.rows:
            table.add_row(
                *(
                    Text(row[place])
                    if self.columns[place].wraps
                    else Text(row[place], overflow="ellipsis", no_wrap=True)
                    for place in kept
                )
            )
        console.print(table, highlight=False, soft_wrap=False)

    @property
    def _titles(self) -> list[str]:
        return [column.title for column in self.columns]

    def _widths(self) -> list[int]:
        return [max(map(cell_len, cells)) for cells in zip(self._titles, *self.rows, strict=True)]

    def _kept(self, widths: Sequence[int], width: int) -> list[int]:
        """Return the shown columns: those with content, without the least important ones if there is no room."""
        wanted = [
            size if column.is_number else min(size, max(READABLE_TEXT_WIDTH, cell_len(column.title)))
            for column, size in zip(self.columns, widths, strict=True)
        ]
        kept = [place for place in range(len(self.columns)) if not self.rows or any(row[place] for row in self.rows)]
        by_drop = sorted(kept, key=lambda place: -self.columns[place].drop)
        for place in (place for place in by_drop if self.columns[place].drop):
            if sum(wanted[shown] + GAP for shown in kept) - GAP > width:
                kept.remove(place)
        return kept

    def _line(self, cells: Sequence[str], widths: Sequence[int]) -> str:
        padded = []
        for column, cell, size in zip(self.columns, cells, widths, strict=True):
            blank = " " * (size - cell_len(cell))
            padded.append(f"{blank}{cell}" if column.is_number else f"{cell}{blank}")
        return (" " * GAP).join(padded).rstrip()
