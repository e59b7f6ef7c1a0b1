"""Tables that are sorted and filtered by links, so that both work without scripts.

On phones they collapse into blocks of labels and values: each cell carries its heading for the style sheet.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from aiohttp import web
from multidict import MultiMapping
from yarl import URL

from arena.http.problem import Problem, quoted

S = TypeVar("S", bound=str)
T = TypeVar("T")

_TABLE = re.compile(r'(<div class="wide"[^>]*>\s*<table(?![^>]*\bcross\b)[^>]*>)(.*?)(</table>)', re.DOTALL)
_HEADS = re.compile(r"<th\b[^>]*>(.*?)</th>", re.DOTALL)
_ROW = re.compile(r"<tr\b.*?</tr>", re.DOTALL)
_CELL = re.compile(r"<t[dh]\b(?=[^>]*>(\s*</t[dh]>)?)")
"""The start of a cell; its group matches an empty one, which a phone shows without its heading."""
_TAG = re.compile(r"<[^>]*>|[↓↑]")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table. `key` is what it sorts by; a column with an empty key cannot be sorted.

    If `is_descending_first`, the first click sorts from large to small.
    """

    key: str
    title: str
    hint: str = ""
    is_number: bool = True
    is_descending_first: bool = True


class Sorting:
    """The current order of a table, and the links to other orders."""

    def __init__(
        self, url: URL, columns: Sequence[Column], key: str, *, is_descending: bool, parameter: str = "sort"
    ) -> None:
        self._url, self._parameter = url, parameter
        self.columns = tuple(columns)
        self.key, self.is_descending = key, is_descending

    @property
    def order(self) -> dict[str, Any]:
        """The fields of a query that ask for this order."""
        return {"sort": self.key, "order": "falling" if self.is_descending else "rising"}

    def link(self, column: Column) -> str:
        """Return the address of this page sorted by a column; by the current column, in the reverse order."""
        is_descending_first = not self.is_descending if column.key == self.key else column.is_descending_first
        url = self._url.without_query_params("after", "page")
        url = url.update_query({self._parameter: ("-" if is_descending_first else "") + column.key})
        return str(url.relative()) if url.is_absolute() else str(url)

    def aria(self, column: Column) -> str:
        """Return the value of `aria-sort`; empty for the columns that do not determine the order."""
        if not column.key or column.key != self.key:
            return ""
        return "descending" if self.is_descending else "ascending"

    def sort(self, rows: Sequence[T], value: Callable[[T, str], Any]) -> list[T]:
        """Return the rows in order; those without a value come last in both directions."""
        some = [row for row in rows if value(row, self.key) is not None]
        none = [row for row in rows if value(row, self.key) is None]
        return sorted(some, key=lambda row: value(row, self.key), reverse=self.is_descending) + none


@dataclass(frozen=True, slots=True)
class SortedTable(Generic[T]):
    """The rows of a table in the requested order, and the links to other orders."""

    rows: list[T]
    sorting: Sorting


def sorted_table(
    request: web.Request,
    columns: Sequence[Column],
    rows: Sequence[T],
    default: str = "",
    *,
    parameter: str = "sort",
    value: Callable[[T, str], Any] = getattr,
) -> SortedTable[T]:
    """Return a table in the order that the query `parameter` names, else in the default one. Raises Problem (400).

    An empty default keeps the rows as given.
    """
    shown = sorting(request, columns, default, parameter)
    return SortedTable(shown.sort(rows, value) if shown.key else list(rows), shown)


def sorting(request: web.Request, columns: Sequence[Column], default: str, parameter: str = "sort") -> Sorting:
    """Return the order that `?sort=KEY` or `?sort=-KEY` names. Raises Problem (400).

    With several tables on a page, each has its own `parameter`.
    """
    text = request.query.get(parameter, default)
    key = text.removeprefix("-")
    known = [column.key for column in columns if column.key]
    if key not in known and text != default:
        raise Problem(
            "bad-request", f"invalid sort key {quoted(key)}", hint="choose from " + ", ".join(known), field=parameter
        )
    return Sorting(request.rel_url, columns, key, is_descending=text.startswith("-"), parameter=parameter)


def choice(query: MultiMapping[str], name: str, known: Sequence[S], default: S | Literal[""] = "") -> S | Literal[""]:
    """Return a query parameter that must be one of `known`, or the default. Raises Problem (400)."""
    value = query.get(name, "")
    if not value:
        return default
    found = next((one for one in known if one == value), None)
    if found is None:
        raise Problem(
            "bad-request", f"invalid {name} {quoted(value)}", hint="choose from " + ", ".join(known[:20]), field=name
        )
    return found


def number(query: MultiMapping[str], name: str, default: int, *, low: int = 1, high: int = 10_000) -> int:
    """Return a query parameter as a number within bounds. Raises Problem (400)."""
    text = query.get(name, "")
    if not text:
        return default
    if not (text.isascii() and text.isdecimal() and len(text) <= 9 and low <= int(text) <= high):
        raise Problem(
            "bad-request",
            f"{name}={quoted(text)} is not a number from {low} to {high}",
            field=name,
            hint=f"write a number from {low} to {high}",
        )
    return int(text)


def label_cells(text: str) -> str:
    """Add `data-label` to the cells of a page's wide tables. Crosstables are left as they are."""
    return _TABLE.sub(_labelled, text)


def _labelled(found: re.Match[str]) -> str:
    opening, inner, closing = found.groups()
    head, end, body = inner.partition("</thead>")
    titles = [" ".join(_TAG.sub("", title).split()).replace('"', "&quot;") for title in _HEADS.findall(head)]

    def row(line: re.Match[str]) -> str:
        rest = iter(titles)

        def labelled(cell: re.Match[str]) -> str:
            title = next(rest, "")
            return cell[0] if cell[1] else f'{cell[0]} data-label="{title}"'

        return _CELL.sub(labelled, line[0])

    return f"{opening}{head}{end}{_ROW.sub(row, body)}{closing}"
