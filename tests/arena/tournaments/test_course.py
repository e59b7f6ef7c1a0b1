"""The course of a tournament by hand: brackets by the names of their rounds, byes, and why a ladder asks."""

from __future__ import annotations

from functools import partial
from typing import Any

from arena.tournaments import format
from arena.tournaments.course import Course, Encounter, Turn, course
from arena.tournaments.meeting import Played, Seat
from arena.tournaments.settings import Document, read
from tests.arena.tournaments.simulation import Judge, planned, run

NAMES = dict(enumerate("abcdefgh"))


def document(format: str, **settings: Any) -> Document:
    """The settings of a tournament."""
    return read({"name": "cup", "family": "loa", "format": format, "entries": {"all": True}, **settings})


def seats(count: int, *gone: int) -> list[Seat]:
    """So many seats, some of them withdrawn."""
    return [Seat(number, number in gone) for number in range(count)]


def of(settings: Document, field: list[Seat], games: list[Played]) -> Course:
    """The course of these."""
    return course(settings, field, games, NAMES)


def held(settings: Document, field: list[Seat], judge: Judge) -> Course:
    """The course when all is played."""
    return of(settings, field, run(partial(format.step, settings, field), judge))


def better_seed_wins(game: Played) -> float:
    """1 for first where its seat is the lower."""
    return float(game.first < game.second)


def test_a_bracket_has_named_rounds_byes_and_a_champion() -> None:
    found = held(document("knockout", knockout={"third_place": True}), seats(7), better_seed_wins)
    assert [round.name for round in found.bracket] == ["Quarter-finals", "Semi-finals", "Final", "Third place"]
    assert (found.champion, found.third) == ("a", "c")
    quarter = found.bracket[0].encounters
    assert quarter[0] == Encounter("a", "", winner="a", reason="bye")
    assert quarter[0].is_bye
    assert quarter[1] == Encounter("d", "e", (2.0, 0.0), "d", "points", (1, 2))
    assert len(quarter) == 4
    assert found.bracket[3].encounters[0].winner == "c"
    assert len(held(document("knockout"), seats(8), better_seed_wins).bracket[0].encounters) == 4


def test_a_bracket_that_is_open_knows_no_winner() -> None:
    settings = document("knockout")
    found = of(settings, seats(4), planned(format.step(settings, seats(4), []).meetings, []))
    assert found.champion == found.third == ""
    assert found.bracket[0].encounters[0] == Encounter("a", "d", games=(1, 2))
    assert found.bracket[1].encounters[0] == Encounter("", "")


def test_rounds_of_a_swiss_name_the_bye() -> None:
    found = held(document("swiss", rounds=2, games=2), seats(3), better_seed_wins)
    assert found.rounds == (1, 2)
    assert found.turns is not None
    assert found.turns["a"][1] == Turn("b", 2.0, 0.0, (1, 2))
    assert found.turns["b"][1] == Turn("a", 0.0, 2.0, (1, 2))
    assert found.turns["c"][1] == Turn("", 2.0, 0.0)
    assert [name for name in "abc" if not found.turns[name][2].rival] == ["b"]


def test_a_ladder_says_why_it_asks() -> None:
    settings = document("ladder", ladder={"games": 100})
    field = [Seat(0, mu=30, sigma=1), Seat(1, mu=29, sigma=1.2), Seat(2, mu=10, sigma=0.5)]
    first = of(settings, field, [])
    assert (first.wishes[0].first, first.wishes[0].second) == ("a", "b")
    assert first.wishes[0].reason == "tells most: 1.0 apart, b is known to ± 2.4"
    done = [Played(number, 1, number, 0, 1, "done", 0.5, number) for number in range(1, 7)]
    assert of(settings, field, done).wishes[0].reason == "c has waited for 6 pairs"
    games = [Played(1, 1, 1, 0, 1, "open"), Played(2, 1, 1, 1, 0, "open")]
    assert [(one.first, one.second) for one in of(settings, field, games).playing] == [("a", "b")]


def test_a_ladder_asks_for_no_more_than_it_has_games() -> None:
    settings = document("ladder", ladder={"games": 2})
    assert len(of(settings, seats(3), []).wishes) == 1
    games = [Played(1, 1, 1, 0, 1, "done", 1.0, 1), Played(2, 1, 1, 1, 0, "done", 0.0, 2)]
    assert of(settings, seats(3), games).wishes == ()


def test_a_race_says_what_is_in_doubt() -> None:
    settings = document("race", race={"games": 40})
    first = of(settings, seats(3), [])
    assert [(one.first, one.second) for one in first.wishes[:3]] == [("a", "b"), ("a", "c"), ("b", "c")]
    doubt = "in doubt: is a (50.0 %) ahead of b (50.0 %)? Evidence 1 of 40"
    assert first.wishes[0].reason == doubt
    assert first.wishes[2].reason == f"{doubt}; each meets everybody as often"
    games = [Played(1, 1, 1, 0, 1, "open"), Played(2, 1, 1, 1, 0, "open")]
    assert [(one.first, one.second) for one in of(settings, seats(3), games).playing] == [("a", "b")]
    assert len(of(document("race", race={"games": 4}), seats(3), games).wishes) == 1


def test_other_formats_and_empty_fields_have_none() -> None:
    assert of(document("round-robin"), seats(3), []) == Course()
    assert of(document("knockout"), seats(1), []) == Course()
