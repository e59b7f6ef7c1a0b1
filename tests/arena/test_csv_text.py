"""CSV of items: what a spreadsheet and a program read again."""

from __future__ import annotations

import csv
import io

from arena.csv_text import lines


def test_items_are_lines_with_the_keys_above() -> None:
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


def test_no_text_is_taken_for_a_formula() -> None:
    assert "".join(lines([{"name": "=cmd()", "points": -1}])) == "name,points\r\n'=cmd(),-1\r\n"


def test_chosen_columns_stand_above_nothing_too() -> None:
    assert "".join(lines([], ("a", "b"))) == "a,b\r\n"
    assert "".join(lines([{"b": 1, "c": 2}], ("a", "b"))) == "a,b\r\n,1\r\n"
    assert "".join(lines([])) == ""
