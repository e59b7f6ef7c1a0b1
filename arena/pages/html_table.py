"""Sorting and filtering of tables by links, so that both work without scripts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from aiohttp import web
from multidict import MultiMapping
from yarl import URL

from arena.http.problem import Problem, quoted

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Column:
    """A column: `key` sorts by it (empty: it cannot be sorted), `is_descending_first` when its best value comes first if largest."""

    key: str
    title: str
    hint: str = ""
    is_number: bool = True
    is_descending_first: bool = True


class Sorting:
    """How a table is sorted just now, and the links that sort it otherwise."""

    def __init__(
        self, url: URL, columns: Sequence[Column], key: str, *, is_descending: bool, parameter: str = "sort"
    ) -> None:
        self._url, self._parameter = url, parameter
        self.columns = tuple(columns)
        self.key, self.is_descending = key, is_descending

    def link(self, column: Column) -> str:
        """The address of the same page sorted by a column; by it already: the other way round."""
        is_descending_first = not self.is_descending if column.key == self.key else column.is_descending_first
        url = self._url.without_query_params("after", "page")
        url = url.update_query({self._parameter: ("-" if is_descending_first else "") + column.key})
        return str(url.relative()) if url.is_absolute() else str(url)

    def aria(self, column: Column) -> str:
        """The value of `aria-sort`, empty for other columns."""
        if not column.key or column.key != self.key:
            return ""
        return "descending" if self.is_descending else "ascending"

    def sort(self, rows: Sequence[T], value: Callable[[T, str], Any]) -> list[T]:
        """The rows in order; those without a value come last either way."""
        some = [row for row in rows if value(row, self.key) is not None]
        none = [row for row in rows if value(row, self.key) is None]
        return sorted(some, key=lambda row: value(row, self.key), reverse=self.is_descending) + none


@dataclass(frozen=True, slots=True)
class SortedTable(Generic[T]):
    """The rows of a table in the order asked for, and the links that sort it otherwise."""

    rows: list[T]
    sorting: Sorting


def sorted_table(
    request: web.Request,
    columns: Sequence[Column],
    rows: Sequence[T],
    *,
    parameter: str = "sort",
    value: Callable[[T, str], Any] = getattr,
) -> SortedTable[T]:
    """A table that stands as it is given until `?parameter=` asks for another order. Raises Problem (400)."""
    shown = sorting(request, columns, "", parameter)
    return SortedTable(shown.sort(rows, value) if shown.key else list(rows), shown)


def sorting(request: web.Request, columns: Sequence[Column], default: str, parameter: str = "sort") -> Sorting:
    """The sorting a request asks for by `?sort=KEY` or `?sort=-KEY`. Raises Problem (400).

    A page with several tables gives each a `parameter` of its own. An empty default leaves rows as they are.
    """
    text = request.query.get(parameter, default)
    key = text.removeprefix("-")
    known = [column.key for column in columns if column.key]
    if key not in known and text != default:
        raise Problem(
            "bad-request", f"no column {quoted(key)} to sort by", hint="sort by " + ", ".join(known), field=parameter
        )
    return Sorting(request.rel_url, columns, key, is_descending=text.startswith("-"), parameter=parameter)


def choice(query: MultiMapping[str], name: str, known: Sequence[str], default: str = "") -> str:
    """A value of the query string that is one of `known`, or the default. Raises Problem (400)."""
    value = query.get(name, "")
    if not value:
        return default
    if value not in known:
        raise Problem(
            "bad-request", f"no {name} {quoted(value)}", hint=f"{name} is one of " + ", ".join(known[:20]), field=name
        )
    return value


def number(query: MultiMapping[str], name: str, default: int, *, low: int = 1, high: int = 10_000) -> int:
    """A number of the query string within its bounds. Raises Problem (400)."""
    text = query.get(name, "")
    if not text:
        return default
    if not (text.isascii() and text.isdecimal() and len(text) <= 9 and low <= int(text) <= high):
        raise Problem(
            "bad-request",
            f"{name}={quoted(text)} is not a number from {low} to {high}",
            field=name,
            hint="follow a link",
        )
    return int(text)
