"""CSV of items, as spreadsheets and programs read it."""

from __future__ import annotations

import csv
import io

import pytest

from referee.csv_text import lines


def test_items_follow_a_header_of_keys() -> None:
    items = [
        {"name": 'a "b", c', "games": 3, "score": 0.5, "is_new": True, "note": None, "names": ["é"]},
        {"name": "d"},
    ]
    text = "".join(lines(items))
    assert text.splitlines()[0] == "name,games,score,is_new,note,names"
    first, second = csv.DictReader(io.StringIO(text))
    assert first == {
        "name": 'a "b", c',
        "games": "3",
        "score": "0.5",
        "is_new": "true",
        "note": "",
        "names": '["é"]',
    }
    assert second["name"] == "d"


def test_formulas_are_quoted() -> None:
    assert "".join(lines([{"name": "=cmd()", "points": -1}])) == "name,points\r\n'=cmd(),-1\r\n"


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff20"])
def test_heads_and_cells_that_begin_a_formula_are_quoted(start: str) -> None:
    head, row = csv.reader(io.StringIO("".join(lines([{f"{start}a": f"{start}b"}])), newline=""))
    assert (head, row) == ([f"'{start}a"], [f"'{start}b"])


def test_an_empty_list_has_a_header_of_the_chosen_columns() -> None:
    assert "".join(lines([], ("a", "b"))) == "a,b\r\n"
    assert "".join(lines([{"b": 1, "c": 2}], ("a", "b"))) == "a,b\r\n,1\r\n"
    assert "".join(lines([])) == ""
