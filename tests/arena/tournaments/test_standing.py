"""The table of a tournament by hand: points, tie-breaks, and what decides in which format."""

from __future__ import annotations

from typing import Any

from arena.tournaments.meeting import Played, Seat
from arena.tournaments.settings import read
from arena.tournaments.standing import StandingLine, rank


def table(format: str, seats: int, *results: tuple[int, int, int, float | None]) -> list[StandingLine]:
    """The lines after games `(round, first, second, points of first)`, one to a pair; None is a void one."""
    document: dict[str, Any] = {"name": "cup", "family": "loa", "format": format, "games": 2, "entries": {"all": True}}
    games = [
        Played(number, round, number, one, two, "void" if points is None else "done", points, number)
        for number, (round, one, two, points) in enumerate(results, 1)
    ]
    field = [Seat(number) for number in range(seats)]
    return rank(read(document), field, games, dict(enumerate("abcdef")), dict(enumerate(range(10, 16))))


def test_a_round_robin_is_ranked_by_points() -> None:
    found = table(
        "round-robin",
        4,
        (1, 0, 2, 1.0),
        (1, 0, 3, 1.0),
        (2, 1, 0, 1.0),
        (2, 2, 3, 1.0),
        (3, 3, 1, 0.5),
        (3, 1, 2, None),
    )
    assert [(line.rank, line.name, line.points) for line in found] == [
        (1, "a", 2),
        (2, "b", 1.5),
        (3, "c", 1),
        (4, "d", 0.5),
    ]
    assert {line.name: line.sonneborn_berger for line in found} == {"a": 1.5, "b": 2.25, "c": 0.5, "d": 0.75}
    assert {line.name: (line.games, line.wins, line.draws, line.losses) for line in found} == {
        "a": (3, 2, 0, 1),
        "b": (2, 1, 1, 0),
        "c": (2, 1, 0, 1),
        "d": (3, 0, 1, 2),
    }


def test_between_equal_points_whom_one_beat_decides() -> None:
    found = table("round-robin", 4, (1, 0, 3, 1.0), (1, 2, 0, 1.0), (2, 0, 1, 1.0), (2, 1, 3, 1.0))
    assert [(line.name, line.points, line.sonneborn_berger) for line in found] == [
        ("a", 2, 1.0),
        ("c", 1, 2.0),
        ("b", 1, 0.0),
        ("d", 0, 0.0),
    ]


def test_a_ladder_is_ranked_by_the_score_not_by_the_number_of_points() -> None:
    found = table("ladder", 3, (1, 0, 1, 1.0), (1, 0, 1, 0.0), (1, 1, 0, 0.0), (1, 2, 1, 1.0))
    assert [(line.name, line.points, line.games) for line in found] == [("c", 1, 1), ("a", 2, 3), ("b", 1, 4)]


def test_a_knockout_is_ranked_by_the_round_reached() -> None:
    found = table(
        "knockout",
        4,
        (1, 0, 3, 0.5),
        (1, 3, 0, 0.0),
        (1, 1, 2, 1.0),
        (1, 2, 1, 0.0),
        (2, 0, 1, 0.0),
        (2, 1, 0, 1.0),
    )
    assert [(line.name, line.round) for line in found] == [("b", 3), ("a", 2), ("d", 1), ("c", 1)]
