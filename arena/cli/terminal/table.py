"""Tables: aligned text for files and pipes; on a terminal `rich` fits them to the window.

On a terminal the least important columns are dropped first, then long texts are shortened. Numbers are never cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO

from rich.cells import cell_len

GAP = 2
MIN_TEXT_WIDTH = 10
"""Texts are not shortened below this width."""
READABLE_TEXT_WIDTH = 24
"""A text column gets this width before other columns are kept."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows below headings.

    Columns in `numbers` are aligned to the right and never cut. Those in `drop` are left out in this order if there is
    not enough room. Those in `wrap` continue on the next line; other texts are shortened.
    """

    names: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    numbers: frozenset[str] = frozenset()
    drop: tuple[str, ...] = ()
    wrap: frozenset[str] = frozenset()

    def plain_lines(self) -> list[str]:
        """Return the heading and the rows with all columns, as wide as needed."""
        widths = self._widths()
        return [self._line(row, widths) for row in (self.names, *self.rows)]

    def print_fitted(self, stream: IO[str], width: int, *, has_colour: bool) -> None:
        """Print the table with at most `width` characters a line, as far as numbers and short texts allow."""
        from rich.console import Console
        from rich.table import Table as RichTable
        from rich.text import Text

        console = Console(file=stream, width=width, color_system="standard" if has_colour else None)
        table = RichTable(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
        widths = self._widths()
        kept = self._kept(widths, width)
        for at in kept:
            name = self.names[at]
            is_number = name in self.numbers
            table.add_column(
                Text(name),
                justify="right" if is_number else "left",
                no_wrap=is_number,
                min_width=widths[at] if is_number else min(widths[at], MIN_TEXT_WIDTH),
            )
        for row in self.rows:
            cells = [(self.names[at] in self.wrap, row[at]) for at in kept]
            table.add_row(
                *(Text(cell) if wraps else Text(cell, overflow="ellipsis", no_wrap=True) for wraps, cell in cells)
            )
        console.print(table, highlight=False, soft_wrap=False)

    def _widths(self) -> list[int]:
        return [max(map(cell_len, cells)) for cells in zip(self.names, *self.rows, strict=True)]

    def _kept(self, widths: Sequence[int], width: int) -> list[int]:
        """Return the shown columns: those with content, except those in `drop` for which there is not enough room."""
        wanted = [
            size if name in self.numbers else min(size, max(READABLE_TEXT_WIDTH, cell_len(name)))
            for name, size in zip(self.names, widths, strict=True)
        ]
        kept = [at for at in range(len(self.names)) if not self.rows or any(row[at] for row in self.rows)]
        for name in self.drop:
            at = self.names.index(name)
            if at in kept and sum(wanted[one] + GAP for one in kept) - GAP > width:
                kept.remove(at)
        return kept

    def _line(self, cells: Sequence[str], widths: Sequence[int]) -> str:
        padded = []
        for name, cell, size in zip(self.names, cells, widths, strict=True):
            blank = " " * (size - cell_len(cell))
            padded.append(f"{blank}{cell}" if name in self.numbers else f"{cell}{blank}")
        return (" " * GAP).join(padded).rstrip()
