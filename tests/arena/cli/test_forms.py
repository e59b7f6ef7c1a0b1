"""Tables, pages, CSV and JSON of every list agree on every number and name, through the columns that declare them."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from arena.cli.terminal import table as terminal_table
from arena.documents.columns import BOTS, LEADERBOARD, POOL_RATINGS, TOURNAMENTS, VERSIONS, standings
from arena.documents.table import Column
from referee.rules.core import value_text
from referee.tournament.formats import format_named
from tests.arena.cli.place import Place, rich
from tests.with_features import is_on

__all__ = ["rich"]

LISTS = (
    "archive list",
    "archive search",
    *(["atlas show loa"] if is_on("atlas") else []),
    "bot list --retired",
    "dump list",
    "explore loa",
    "leaderboard loa",
    *(["problems list"] if is_on("problems") else []),
    "rules list",
    "schedule list",
    "tournament list",
    "user list",
    "user tokens zoe",
)

Item = Mapping[str, Any]
TABLES = (*LISTS, "tournament show 1", "tournament show 2")
SAID: Mapping[str, Callable[[Item], Any]] = {
    "advantage": lambda item: item["advantage"],
    "also": lambda item: ", ".join(item["names"]),
    "best": lambda item: item["best"]["serial"] if item["best"] else None,
    "conservative": lambda item: item["conservative"],
    "date": lambda item: item["date"] or None,
    "drawn": lambda item: item["draws"] / item["games"] if item["games"] else 0.0,
    "elo": lambda item: item["elo"] and (item["elo"], item.get("elo_interval", item.get("elo_error"))),
    "finished_games": lambda item: f"{item['finished_games']}/{item['planned_games']}",
    "interval": lambda item: (item["shrunk_low"], item["shrunk_high"]),
    "last": lambda item: item["last"] or None,
    "length": lambda item: item["plies"],
    "move": lambda item: item.get("shown", "all moves"),
    "mu": lambda item: (item["mu"], 2 * item["sigma"]),
    "newest_state": lambda item: f"v{item['newest']} {item['newest_state']}" if item["newest"] else None,
    "place": lambda item: item["rank"],
    "plays": lambda item: list(item["families"]),
    "provisional": lambda item: "provisional" if item["is_provisional"] else item["state"],
    "rating": lambda item: item.get("conservative", item.get("rating")),
    "results": lambda item: f"{item['first']} / {item['draw']} / {item['second']}",
    "scopes": lambda item: item["scopes"],
    "state": lambda item: item["state"] if "state" in item else "active" if item["active"] else "inactive",
    "winner": lambda item: {"first": "1-0", "second": "0-1", "draw": "½-½"}.get(item["winner"]),
    "withdrawn": lambda item: "withdrawn" if item["is_withdrawn"] else "",
}
"""What JSON says in the place of a column that shows more, or something else, than the member of its key."""
PLAIN = str.maketrans({"\u2212": "-", "\u00a0": " ", "\u202f": " ", "\u2013": "-"})
_NUMBER = re.compile(r"[+-]?[\d,]*\d(?:\.\d+)?(?: ?%)?")


def said(key: str, item: Item) -> Any:
    """Return what JSON says in the place of a cell."""
    return SAID[key](item) if key in SAID else item[key]


def agrees(shown: str, value: Any) -> bool:
    """Return whether a cell shows a value: numbers as exactly as they are written, moments to the minute."""
    text = shown.translate(PLAIN).strip()
    if value is None or value == []:
        return text in ("-", "")
    if isinstance(value, bool):
        return text in ("yes" if value else "no", value_text(value))
    if isinstance(value, (int, float)):
        value = (value,)
    if isinstance(value, tuple):
        numbers = _NUMBER.findall(text)
        return len(numbers) == len(value) and all(map(_rounds_to, numbers, value))
    if isinstance(value, dict):
        return text == " ".join(f"{name}={value_text(part)}" for name, part in value.items())
    if isinstance(value, list):
        return text == " ".join(map(value_text, value))
    if re.match(r"\d{4}-\d\d-\d\dT", value):
        return text == value[:16].replace("T", " ")
    return text == value.translate(PLAIN).strip()


def _rounds_to(text: str, value: float) -> bool:
    digits = text.replace(",", "").removesuffix("%").strip()
    scale = 100 if text.endswith("%") else 1
    error = 0.5 * 10.0 ** -len(digits.partition(".")[2])
    return abs(float(digits) - scale * value) <= error + 1e-9


@pytest.fixture
def printed(rich: Place, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Callable[[str], Any]:
    """Return a function that runs a command in a form, and returns the tables that it shows, or what it prints."""
    tables: list[terminal_table.Table] = []

    def keep(columns: Any, rows: Any) -> terminal_table.Table:
        tables.append(build(columns, rows))
        return tables[-1]

    build = terminal_table.Table.of
    monkeypatch.setattr(terminal_table.Table, "of", keep)

    def call(command: str, form: str = "table") -> Any:
        tables.clear()
        capsys.readouterr()
        assert rich.run(command, "-o", form) == 0
        out = capsys.readouterr().out
        return list(tables) if form == "table" else json.loads(out) if form == "json" else out

    return call


def rows_of(document: Item) -> list[list[Item]]:
    """Return the lists of a document that its tables show: the longest list of documents, or those of each family."""
    if "families" in document:
        return [items for family in document["families"] for items in (family["variants"], family["options"])]
    if "standings" in document:
        return [document["standings"]]
    if "starts" in document:  # its table shows the measurements at the most nodes, the fairest first
        most = max(line["nodes"] for line in document["starts"])
        shown = [line for line in document["starts"] if line["nodes"] == most]
        return [sorted(shown, key=lambda line: abs(line["shrunk"]))]
    lists = [value for value in document.values() if isinstance(value, list) and value and isinstance(value[0], dict)]
    return [max(lists, key=len)] if lists else []


@pytest.mark.parametrize("command", TABLES)
def test_a_table_shows_what_json_says(printed: Callable[..., Any], command: str) -> None:
    tables, lists = printed(command), rows_of(printed(command, "json"))
    assert len(tables) >= len(lists)
    for table, items in zip(tables, lists, strict=False):
        assert len(items) <= len(table.rows) <= len(items) + 1, "a row for each, and perhaps a total"
        for cells, item in zip(table.rows, items, strict=False):
            wrong = [
                (column.key, cell, said(column.key, item))
                for column, cell in zip(table.columns, cells, strict=True)
                if not agrees(cell, said(column.key, item))
            ]
            assert not wrong


@pytest.mark.parametrize("command", TABLES)
def test_csv_and_ndjson_are_the_items_of_json(printed: Callable[..., Any], command: str) -> None:
    document = printed(command, "json")
    items = document.get("families") or document.get("starts") or (rows_of(document) or [[]])[0]
    assert [json.loads(line) for line in printed(command, "ndjson").splitlines()] == items
    rows = list(csv.DictReader(io.StringIO(printed(command, "csv"), newline="")))
    assert len(rows) == len(items)
    for row, item in zip(rows, items, strict=True):
        assert list(row) == list(item)
        assert [key for key, value in item.items() if not _is_cell(row[key], value)] == []


def _is_cell(cell: str, value: Any) -> bool:
    """Return whether a cell of CSV has exactly this value."""
    if value is None:
        return cell == ""
    if isinstance(value, str):
        return cell.removeprefix("'") == value.removeprefix("'")
    return bool(json.loads(cell) == value)


PAGES: Mapping[str, tuple[str, str, Sequence[Column[Any]]]] = {
    "/loa/leaderboard": ("/leaderboards/loa", "items", LEADERBOARD),
    "/bots?sort=name": ("/bots?limit=200", "items", BOTS),
    "/tournaments": ("/tournaments?limit=200", "items", TOURNAMENTS),
    "/bots/ada#versions": ("/bots/ada", "versions", VERSIONS),
    "/bots/ada#ratings": ("/bots/ada", "ratings", POOL_RATINGS),
    "/tournaments/1#standings": ("/tournaments/1/standings", "items", standings(format_named("round-robin").columns)),
}
"""Pages with a table of columns that JSON also has: the address, the list, the columns."""
WORDED = {
    "family",
    "format",
    "state",
    "plays",
    "is_rated",
    "newest_state",
    "provisional",
    "start_time",
    "created_at",
    "place",
}
"""Columns that pages write in words, as a time of their own, or in grey where JSON has none (the place of a provisional
rating); their texts are those of other tests.
"""


@pytest.mark.parametrize("page", PAGES)
def test_a_page_shows_what_json_says(rich: Place, page: str) -> None:
    address, name, columns = PAGES[page]
    path, _, _ = page.partition("#")
    items = rich.server.get(f"/api/v1{address}", token=rich.token).json[name]
    tables = [
        [dict(re.findall(r'<t[hd][^>]*?data-label="([^"]*)"[^>]*>(.*?)</t[hd]>', row, re.DOTALL)) for row in rows]
        for body in re.findall("<tbody>(.*?)</tbody>", rich.server.get(path).body.decode(), re.DOTALL)
        if (rows := [row for row in re.findall("<tr.*?</tr>", body, re.DOTALL) if "data-label" in row])
    ]
    by_title = {html.escape(column.title, quote=False): column for column in columns if not column.is_for_terminal}
    shown = [rows for rows in tables if len(rows) == len(items) and set(rows[0]) >= {"Games"} & set(by_title)]
    matching = [rows for rows in shown if len(set(rows[0]) & set(by_title)) >= 3]
    assert matching, [list(rows[0]) for rows in tables]
    for cells, item in zip(matching[0], items, strict=True):
        wrong = []
        for title, cell in cells.items():
            column = by_title.get(title)
            if column is None or column.key in WORDED:
                continue
            text = " ".join(html.unescape(re.sub("<[^>]+>", " ", cell)).split())
            value = said(column.key, item)
            is_text = isinstance(value, str) and value  # with a mark or a link; odd characters are replaced
            if not (not value.isprintable() or value in text if is_text else agrees(text, value)):
                wrong.append((column.key, text, value))
        assert not wrong


@pytest.mark.parametrize("number", [1, 2])
def test_the_crosstable_of_a_page_is_that_of_json_and_of_the_standings(rich: Place, number: int) -> None:
    text = rich.server.get(f"/tournaments/{number}/crosstable.csv").body.decode()
    lines = list(csv.DictReader(io.StringIO(text, newline="")))
    table = rich.server.get(f"/api/v1/tournaments/{number}/crosstable").json["items"]
    ranked = rich.server.get(f"/api/v1/tournaments/{number}/standings").json["items"]
    assert [line["bot"] for line in lines] == [row["name"] for row in table] == [row["name"] for row in ranked]
    for line, row, standing in zip(lines, table, ranked, strict=True):
        for key in ("rank", "points", "games", "sonneborn_berger"):
            assert float(line[key]) == row[key] == standing[key]
        for cell in filter(None, row["cells"]):
            points, _, rest = line[cell["opponent"]].partition("/")
            games, _, letters = rest.partition(" ")
            assert (float(points), int(games)) == (cell["points"], cell["games"])
            assert letters.replace(" ", "") == "".join(cell["pairs"])
