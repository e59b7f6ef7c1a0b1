"""Crosstable: both games of an opening next to each other, equal in all output formats."""

from __future__ import annotations

import csv
import io

from referee.csv_text import safe
from referee.game.record import GameRecord
from referee.rules.core import Kind
from referee.tournament import crosstable
from tests.referee.conftest import a_record
from tests.referee.tournament.rehearsal import table_of


def result(
    sequence: int, pair: int, first: str, second: str, winner: str | None, kind: Kind = Kind.RULES
) -> GameRecord:
    return a_record(sequence=sequence, pair=pair, first=first, second=second, winner=winner, kind=kind)


def test_crosstable_keeps_pairs_together() -> None:
    results = [
        result(1, 1, "a", "b", "first"),
        result(2, 1, "b", "a", "draw"),
        result(3, 2, "a", "b", "second"),
        result(4, 3, "a", "b", "first", Kind.VOID),
    ]
    table = crosstable.rows(results, table_of(results, ["a", "b"]).lines)
    cell = next(row for row in table if row.standing.name == "a").cells[1 if table[0].standing.name == "a" else 0]
    assert cell is not None
    assert cell.pairs == ["WD", "L"]
    assert (cell.points, cell.games, cell.verdict) == (1.5, 3, "same")
    text = crosstable.as_csv(table)
    assert "1.5/3 WD L" in text
    assert safe("=cmd") == "'=cmd"


def test_the_columns_of_the_csv_hold_what_their_heads_say() -> None:
    results = [
        result(1, 1, "a", "b", "first"),
        result(2, 1, "b", "a", "draw"),
        result(3, 2, "a", "c", "first"),
        result(4, 3, "=b", "c", "draw"),
    ]
    table = crosstable.rows(results, table_of(results, ["a", "b", "c", "=b"]).lines)
    lines = list(csv.DictReader(io.StringIO(crosstable.as_csv(table))))
    assert [list(line) for line in lines] == [
        ["rank", "bot", *(safe(row.standing.name) for row in table), "points", "games", "sonneborn_berger"]
    ] * 4
    (best,) = [line for line in lines if line["bot"] == "a"]
    assert best == {
        **{"rank": "1", "bot": "a", "a": "", "b": "1.5/2 WD", "c": "1/1 W", "'=b": "0/0"},
        **{"points": "2.5", "games": "3", "sonneborn_berger": best["sonneborn_berger"]},
    }
    assert best["sonneborn_berger"] not in ("2.5", "3")
    assert {line["bot"]: (line["points"], line["games"], line["a"]) for line in lines} == {
        "a": ("2.5", "3", ""),
        "b": ("0.5", "2", "0.5/2 LD"),
        "c": ("0.5", "2", "0/1 L"),
        "'=b": ("0.5", "1", "0/0"),
    }
