"""Standings and crosstables of records, against small games computed by hand."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from referee.game.record import GameRecord
from referee.rules.core import Kind, Termination
from referee.tournament import crosstable as crosstables
from referee.tournament.standing import StandingItem
from tests.referee.conftest import a_record, results
from tests.referee.tournament.rehearsal import table_of


def lines(records: Sequence[GameRecord], names: Sequence[str]) -> Sequence[StandingItem]:
    """The lines of the standings."""
    return table_of(records, names).lines


def crosstable(records: Sequence[GameRecord], names: Sequence[str]) -> list[dict[str, Any]]:
    """The crosstable as plain data."""
    return [
        {
            "name": row.standing.name,
            "points": row.standing.points,
            "cells": [
                cell and {"points": cell.points, "games": cell.games, "results": cell.results} for cell in row.cells
            ],
        }
        for row in crosstables.rows(records, lines(records, names))
    ]


def test_standings_by_hand() -> None:
    records = results("a b 1-0", "b c =", "c a 0-1", "b a =", "c b 1-0", "a c 1-0")
    table = lines(records, ["c", "b", "a"])
    assert [(line.name, line.points, line.games) for line in table] == [("a", 3.5, 4), ("c", 1.5, 4), ("b", 1.0, 4)]
    a = table[0]
    assert (a.wins, a.draws, a.losses, a.score) == (3, 1, 0, 0.875)
    assert a.sonneborn_berger == 1.5 * 1.0 + 2 * 1.5


def test_between_equal_points_whom_one_beat_decides_and_then_the_wins() -> None:
    records = results("a c =", "a d =", "b d 1-0", "b c 0-1", "d c 1-0")
    table = lines(records, ["a", "b", "c", "d"])
    assert [(line.rank, line.name, line.points, line.sonneborn_berger, line.wins) for line in table] == [
        (1, "d", 1.5, 2.0, 1),
        (2, "c", 1.5, 1.5, 1),
        (3, "b", 1.0, 1.5, 1),
        (4, "a", 1.0, 1.5, 0),
    ]
    assert [row["name"] for row in crosstable(records, ["a", "b", "c", "d"])] == ["d", "c", "b", "a"]


def test_where_nothing_decides_the_order_of_the_names_does() -> None:
    drawn = lines(results("x y ="), ["y", "z", "x"])
    assert [(line.rank, line.place, line.name) for line in drawn] == [(1, "1=", "y"), (2, "1=", "x"), (3, "3", "z")]
    assert [(line.rank, line.name, line.score) for line in lines([], ["y", "x"])] == [(1, "y", 0), (2, "x", 0)]


def test_a_crosstable_by_hand() -> None:
    rows = crosstable(results("a b 1-0", "b a =", "c b 1-0"), ["a", "b", "c"])
    assert [(row["name"], row["points"]) for row in rows] == [("a", 1.5), ("c", 1), ("b", 0.5)]
    assert rows[0]["cells"] == [
        None,
        {"points": 0, "games": 0, "results": ""},
        {"points": 1.5, "games": 2, "results": "WD"},
    ]


def test_a_forfeit_is_counted_for_whoever_lost_by_it() -> None:
    records = results("a b 1-0", "b a 1-0", "a b 1-0", "a b =")
    lost = [replace(record, kind=Kind.FORFEIT, termination=Termination.TIME) for record in records[1:3]]
    neither = replace(records[3], kind=Kind.FORFEIT)
    table = {line.name: line.forfeits for line in lines([records[0], *lost, neither], ["a", "b"])}
    assert table == {"a": 1, "b": 1}
    assert {line.forfeits for line in lines(records, ["a", "b"])} == {0}


def test_crosstable_sums_equal_standings() -> None:
    rng = random.Random(4)
    names = list("abcdef")
    records = results(
        *(
            f"{first} {second} {rng.choice(['1-0', '0-1', '='])}"
            for first in names
            for second in names
            if first != second
        )
    )
    points = {line.name: line.points for line in lines(records, names)}
    rows = crosstable(records, names)
    assert {row["name"]: row["points"] for row in rows} == points
    assert sum(points.values()) == len(records)
    for index, row in enumerate(rows):
        assert row["cells"][index] is None
        for other, cell in enumerate(row["cells"]):
            if cell is not None:
                mirror = rows[other]["cells"][index]
                assert cell["points"] + mirror["points"] == cell["games"] == mirror["games"]


def test_voids_count_nowhere_and_forfeits_are_named() -> None:
    void = a_record(winner=None, termination=Termination.WORKER_LOST, kind=Kind.VOID)
    lost = a_record(winner="first", termination=Termination.TIME, kind=Kind.FORFEIT)
    table = {line.name: line for line in lines([void, lost], ["one", "two"])}
    assert (table["one"].games, table["two"].forfeits, table["one"].forfeits) == (1, 1, 0)
    assert table_of([void, lost, lost], ["one", "two"]).scores.endings == {"time": 2}
