"""Tables that are sorted and filtered by links, so that both work without scripts.

`table.html` writes them: each cell carries the title of its column, by which the table collapses on phones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Generic, Literal, TypeVar

from aiohttp import web
from jinja2.environment import TemplateModule
from markupsafe import Markup, escape
from multidict import MultiMapping
from yarl import URL

from arena.documents.archive import ArchiveItem
from arena.documents.game import GameItem
from arena.documents.table import Column, Interval, page_columns, text_column
from arena.http.problem import Problem, quoted
from arena.pages import filters, times
from arena.pages.language import number as decimal
from arena.pages.language import text, translated
from arena.pages.markdown import inline
from referee.errors import near

R = TypeVar("R")
S = TypeVar("S", bound=str)

FORMS: Mapping[str, Callable[[Any], object]] = {
    "count": decimal,
    "duration": times.duration,
    "format": filters.format_name,
    "id": str,
    "inline": lambda value: inline(translated(value)),
    "points": filters.points,
    "result": filters.result,
    "share": filters.percent,
    "size": filters.size,
    "strength": lambda value: decimal(value, 1),
    "version": filters.version,
    "word": translated,
}
"""Forms of cells that are written without markup of their own; the others are macros of `table_cells.html`."""
_MAX_TEXT = 300
_BY_TYPE: Sequence[tuple[type, Callable[[Any], object]]] = (
    (Markup, lambda value: value),
    (bool, lambda value: text("yes") if value else text("no")),
    (datetime, times.when),
    (Interval, lambda value: f"{decimal(value.middle, 2)} ± {decimal(value.margin, 2)}"),
    (float, lambda value: decimal(value, 2)),
    (str, lambda value: filters.plain(value, _MAX_TEXT)),
)


def written(value: object, form: str = "") -> object:
    """Return the value of a cell as a page writes it: by its form, else by its type; `–` for a missing value."""
    if value is None:
        return "–"
    if form in FORMS:
        return FORMS[form](value)
    if type(value) is int:  # most cells, and none of the types below
        return value if abs(value) < 1000 else decimal(value, 0)
    return next((write(value) for kind, write in _BY_TYPE if isinstance(value, kind)), value)


class Sorting:
    """The current order of a table, and the links to other orders."""

    def __init__(
        self, url: URL, columns: Sequence[Column[Any]], key: str, *, is_descending: bool, parameter: str = "sort"
    ) -> None:
        self._url, self._parameter, self._columns = url, parameter, columns
        self.key, self.is_descending = key, is_descending

    @property
    def order(self) -> dict[str, Any]:
        """The fields of a query that ask for this order."""
        return {"sort": self.key, "order": "falling" if self.is_descending else "rising"}

    def link(self, column: Column[Any]) -> str:
        """Return the address of this page sorted by a column; by the current column, in the reverse order."""
        is_descending_first = not self.is_descending if column.key == self.key else column.is_descending_first
        url = self._url.without_query_params("after", "page")
        url = url.update_query({self._parameter: ("-" if is_descending_first else "") + column.key})
        return str(url.relative()) if url.is_absolute() else str(url)

    def aria(self, column: Column[Any]) -> str:
        """Return the value of `aria-sort`; empty for the columns that do not determine the order."""
        if column.key != self.key:
            return ""
        return "descending" if self.is_descending else "ascending"

    def sort(self, rows: Sequence[R]) -> list[R]:
        """Return the rows in order, or as given without a key; those without a value come last in both directions."""
        if not self.key:
            return list(rows)
        rank = next(column.rank for column in self._columns if column.key == self.key)
        some = [row for row in rows if rank(row) is not None]
        none = [row for row in rows if rank(row) is None]
        return sorted(some, key=rank, reverse=self.is_descending) + none


@dataclass(frozen=True)
class HtmlTable(Generic[R]):
    """The columns and rows of a table; without `sorting` its order is fixed. `css` returns the class of a row."""

    columns: Sequence[Column[R]]
    rows: Sequence[R]
    sorting: Sorting | None = None
    css: Callable[[R], str] = lambda row: ""

    @cached_property
    def shown(self) -> list[Column[R]]:
        """The columns that have a value in some row, or markup of their own, which may show a missing value."""
        return [
            column
            for column in self.columns
            if not self.rows
            or (column.form and column.form not in FORMS)
            or any(column.cell(row) not in (None, "") for row in self.rows)
        ]

    def body(self, rows: Sequence[R], macros: TemplateModule) -> Markup:
        """Return rows of the table; `macros` are those of `table_cells.html`.

        An empty cell has no label, so that phones do not show it.
        """
        # Not in the template: a page has thousands of cells, and only their values differ.
        columns = [_CellWriter.of(column, macros) for column in self.shown]
        parts = []
        for row in rows:
            css = self.css(row)
            parts.append(f'<tr class="{escape(css)}">' if css else "<tr>")
            for column in columns:
                shown = column.write(row)
                is_empty = not shown or shown.isspace()
                parts.append(f"{column.bare if is_empty else column.labelled}{shown}{column.end}")
            parts.append("</tr>")
        return Markup("".join(parts))  # noqa: S704 - the values are escaped, as are classes and labels


@dataclass(frozen=True, slots=True)
class _CellWriter(Generic[R]):
    """Writes the cells of a column: `labelled` and `bare` are the tags before a value, `end` is the one after it."""

    column: Column[R]
    macro: Callable[[object, R], str] | None
    labelled: str
    bare: str
    end: str

    @classmethod
    def of(cls, column: Column[R], macros: TemplateModule) -> _CellWriter[R]:
        """Return the writer of a column, with the macro that its form names, if any."""
        tag, start = ("th", '<th scope="row"') if column.is_heading else ("td", "<td")
        classes = escape(f"{'n ' if column.is_number else ''}{column.css}".strip())
        css = f' class="{classes}"' if classes else ""
        label = f' data-label="{escape(filters.finalize(translated(column.title)))}"'
        macro = getattr(macros, column.form, None) if column.form else None
        return cls(column, macro, f"{start}{label}{css}>", f"{start}{css}>", f"</{tag}>")

    def write(self, row: R) -> str:
        """Return the value of a row, escaped."""
        value = self.column.cell(row)
        shown = self.macro(value, row) if self.macro else written(value, self.column.form)
        # Markup is escaped already; `escape` would make a copy of it.
        return shown if type(shown) is Markup else escape(filters.finalize(shown))


def sorted_table(
    request: web.Request,
    columns: Sequence[Column[R]],
    rows: Sequence[R],
    default: str = "",
    *,
    parameter: str = "sort",
    css: Callable[[R], str] = lambda row: "",
) -> HtmlTable[R]:
    """Return a table in the order that the query `parameter` names, else in the default one. Raises Problem (400).

    An empty default keeps the rows as given.
    """
    columns = page_columns(columns)
    order = sorting(request, columns, default, parameter)
    return HtmlTable(columns, order.sort(rows), order, css)


def sorting(request: web.Request, columns: Sequence[Column[Any]], default: str, parameter: str = "sort") -> Sorting:
    """Return the order that `?sort=KEY` or `?sort=-KEY` names. Raises Problem (400).

    With several tables on a page, each has its own `parameter`.
    """
    wish = request.query.get(parameter, default)
    key = wish.removeprefix("-")
    known = [column.key for column in columns if column.is_sortable]
    if key not in known and wish != default:
        raise Problem(
            "bad-request",
            f"invalid sort key {quoted(key)}",
            hint="choose from " + ", ".join(known),
            field=parameter,
            near=near(key, known),
        )
    return Sorting(request.rel_url, columns, key, is_descending=wish.startswith("-"), parameter=parameter)


def choice(query: MultiMapping[str], name: str, known: Sequence[S], default: S | Literal[""] = "") -> S | Literal[""]:
    """Return a query parameter that must be one of `known`, or the default. Raises Problem (400)."""
    value = query.get(name, "")
    if not value:
        return default
    chosen = next((permitted for permitted in known if permitted == value), None)
    if chosen is None:
        raise Problem(
            "bad-request",
            f"invalid {name} {quoted(value)}",
            hint="choose from " + ", ".join(known[:20]),
            field=name,
            near=near(value, known),
        )
    return chosen


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


GAMES: tuple[Column[GameItem], ...] = (
    text_column("id", "Game", lambda game: game.id, "game", is_sortable=False, css="mono id"),
    text_column("family", "Family", lambda game: game.family, "family", css="of"),
    text_column("first", "First", lambda game: game.first, "version", css="one"),
    text_column("second", "Second", lambda game: game.second, "version", css="two"),
    Column("winner", "Result", lambda game: game.winner, "result", is_descending_first=False, css="score"),
    text_column("termination", "Ended by", lambda game: game.termination, "ending", css="w how"),
    Column("plies", "Plies", lambda game: game.plies or None, order=lambda game: game.plies, css="length"),
    # A game that was over before its first move comes after those of its page: there is nothing to watch in it.
    Column(
        "finished_at",
        "Finished",
        lambda game: game.finished_at,
        order=lambda game: game.finished_at and (game.plies > 0, game.finished_at),
        css="at",
    ),
)


def won(game: GameItem | ArchiveItem) -> str:
    """Return the classes of a game's row: the name of the winner is bold, a game without moves grey."""
    return f"won-{game.winner}{'' if game.plies else ' unplayed'}" if game.winner else ""


def sort_games(
    request: web.Request,
    lines: Sequence[GameItem],
    default: str = "-finished_at",
    *,
    with_family: bool = False,
    parameter: str = "games",
) -> HtmlTable[GameItem]:
    """Return a table of games in the order that the request names, by default the latest result first.

    The store orders games by the commit of their result, which may come seconds after their end.
    """
    columns = [column for column in GAMES if with_family or column.key != "family"]
    return sorted_table(request, columns, lines, default, parameter=parameter, css=won)
