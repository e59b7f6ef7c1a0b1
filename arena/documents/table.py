"""Tables that people see: one list of columns makes the table of a page, that of the terminal, and the sort keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

R = TypeVar("R")


class Interval(NamedTuple):
    """An estimate with half the width of its 95 % interval; intervals are sorted by their estimates."""

    middle: float
    margin: float


@dataclass(frozen=True, slots=True)
class Column(Generic[R]):
    """A column of a table with rows of type `R`.

    `key` names the column in its list and in `?sort=`, unless `is_sortable` is false. `cell` returns the value in a
    row; rows are sorted by it, or by `order`. `form` says how the value is written: the name of a macro in
    `table_cells.html` on pages, of a function in `arena.cli.terminal.table` on the terminal. By default, and where one
    of them does not know the form, the type of the value decides.

    `hint` explains the title. If `is_descending_first`, the first click sorts from large to small. The column with
    `is_heading` names the rows; `css` are the classes of its cells. On a terminal without enough room, columns with
    the highest `drop` are left out first, those with 0 never; the text of a column that `wraps` continues below. Pages
    do not show a column that `is_for_terminal`.
    """

    key: str
    title: str
    cell: Callable[[R], object]
    form: str = ""
    hint: str = ""
    is_number: bool = True
    is_descending_first: bool = True
    is_sortable: bool = True
    order: Callable[[R], Any] | None = None
    is_heading: bool = False
    css: str = ""
    drop: int = 0
    wraps: bool = False
    is_for_terminal: bool = False

    def rank(self, row: R) -> Any:
        """Return the value by which rows are sorted; None comes last in both directions."""
        return (self.order or self.cell)(row)


text_column = partial(Column, is_number=False, is_descending_first=False)
"""A column of text, which the first click sorts in ascending order."""


def scaled(size_bytes: int) -> tuple[float, int, int]:
    """Return a size in its largest unit, the decimals to show (none of a whole number), and its power of 1024."""
    value, power = float(size_bytes), 0
    while value >= 1024 and power + 1 < len(_UNITS):
        value, power = value / 1024, power + 1
    return value, 0 if value.is_integer() else 1, power


def size_in_words(size_bytes: int) -> str:
    """Return a size in words: `616 bytes`, `64 KiB`, `1.5 MiB`."""
    value, decimals, power = scaled(size_bytes)
    return f"{value:,.{decimals}f} {_UNITS[power]}"


_UNITS = ("bytes", "KiB", "MiB", "GiB")


def page_columns(columns: Iterable[Column[R]], without: Sequence[str] = ()) -> tuple[Column[R], ...]:
    """Return the columns that a page shows, `without` those of these keys."""
    return tuple(column for column in columns if not column.is_for_terminal and column.key not in without)
