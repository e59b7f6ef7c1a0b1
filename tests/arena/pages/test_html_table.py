"""Tables of pages: their cells, and the forms in which columns ask for them."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from typing import Any

import aiohttp_jinja2
import jinja2
import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request
from jinja2 import nodes

import arena
from arena.cli.terminal import table as terminal_table
from arena.documents.table import Column, Interval, page_columns, text_column
from arena.pages import site
from arena.pages.html_table import FORMS, HtmlTable, sorted_table, written

COLUMNS: tuple[Column[tuple[str, int | None]], ...] = (
    text_column("name", "Name", lambda row: row[0], is_heading=True),
    Column("points", 'P "better"', lambda row: row[1], hint="more is better", css="wide"),
    Column("empty", "Empty", lambda row: "" if row[1] else "?", is_sortable=False),
    Column("never", "Never", lambda row: None),
    text_column("id", "Id", lambda row: row[0], is_for_terminal=True),
)
ROWS = [("ada", 1), ("bob", None), ("cleo", 2)]


@pytest.fixture(scope="module")
def environment() -> jinja2.Environment:
    app = web.Application()
    site.setup(app)
    return aiohttp_jinja2.get_env(app)


def table(environment: jinja2.Environment, rows: Any, **words: Any) -> str:
    template = environment.get_template("table.html").make_module({})
    return " ".join(template.table(rows, "Bots", **words).split())  # type: ignore[attr-defined]


def declared() -> Iterator[Column[Any]]:
    """Yield the columns of the modules of the arena, in lists and single ones."""
    for module in pkgutil.walk_packages(arena.__path__, "arena."):
        if ".migrations" in module.name or module.name.endswith("__main__"):
            continue
        try:
            values = list(vars(importlib.import_module(module.name)).values())
        except ModuleNotFoundError:  # of an optional dependency
            continue
        for value in values:
            parts = value if isinstance(value, tuple) else (value,)
            yield from (part for part in parts if isinstance(part, Column))


def test_every_cell_carries_its_title_but_an_empty_one(environment: jinja2.Environment) -> None:
    shown = table(environment, HtmlTable(page_columns(COLUMNS), ROWS))
    assert '<th scope="row" data-label="Name">ada</th>' in shown
    assert '<td data-label="P &#34;better&#34;" class="n wide">1</td>' in shown
    assert '<td data-label="P &#34;better&#34;" class="n wide">–</td>' in shown
    assert '<td class="n"></td>' in shown
    assert "Id" not in shown
    assert "Never" not in shown  # empty in every row
    assert "Never" in table(environment, HtmlTable(COLUMNS, ()))
    assert "href" not in shown


def test_headings_sort_by_links(environment: jinja2.Environment) -> None:
    rows = sorted_table(make_mocked_request("GET", "/t?sort=-points"), COLUMNS, ROWS)
    assert [row[0] for row in rows.rows] == ["cleo", "ada", "bob"]
    shown = table(environment, rows, anchor="here")
    assert '<a href="/t?sort=points#here" title="more is better">P &#34;better&#34;</a> ↓' in shown
    assert '<a href="/t?sort=name#here">Name</a>' in shown
    assert "sort=empty" not in shown


def test_rows_have_classes_and_a_total(environment: jinja2.Environment) -> None:
    rows = HtmlTable(COLUMNS[:1], ROWS, css=lambda row: "provisional" if row[1] is None else "")
    shown = table(environment, rows, total=("all", 3))
    assert re.findall('<tr(?: class="(.*?)")?>', shown) == ["", "", "provisional", "", ""]
    assert shown.index(">cleo<") < shown.index(">all<")


def test_values_are_written_by_form_or_type() -> None:
    assert (written(None), written(None, "share"), written(0.125, "share")) == ("–", "–", "12.5 %")
    assert (str(written(999)), written(1427)) == ("999", "1,427")
    assert (written(1427), written(1427, "id")) == ("1,427", "1427")
    assert (written(True), written(2.5), written(Interval(25.0, 3.5))) == ("yes", "2.50", "25.00 ± 3.50")


def test_every_form_is_written_and_every_macro_is_asked_for(environment: jinja2.Environment) -> None:
    source, _, _ = environment.loader.get_source(environment, "table_cells.html")  # type: ignore[union-attr]
    macros = {macro.name for macro in environment.parse(source).find_all(nodes.Macro)}
    columns = list(declared())
    everywhere = {column.form for column in columns} - {""}
    assert len(columns) > 200
    assert everywhere - macros - set(FORMS) - set(terminal_table.FORMS) == set(), "neither a macro nor a form"
    inner = {name for name in macros if re.search(rf"{{{{\s?{name}\(", source)}
    assert macros - everywhere - inner == set(), "no column has this macro"
    assert set(FORMS) | set(terminal_table.FORMS) <= everywhere
    assert not macros & set(FORMS)
