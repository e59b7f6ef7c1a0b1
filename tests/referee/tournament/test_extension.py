"""Length of tournaments, extension, and the resulting size."""

from __future__ import annotations

from typing import Any

import pytest

from referee.tournament.document import Document, read
from referee.tournament.match import Length, PlanItem, Seed, TournamentGame
from referee.tournament.part import SettingsError
from referee.tournament.preview import extended

SEATS = [Seed(number) for number in range(4)]


def document(format: str, **settings: Any) -> Document:
    return read({"name": "Cup", "family": "loa", "format": format, "entries": {"bots": ["a", "b"]}, **settings})


@pytest.mark.parametrize(
    ("found", "count", "unit"),
    [
        (document("round-robin", games=4), 4, "games of each pairing"),
        (document("gauntlet"), 2, "games of each pairing"),
        (document("swiss", games=1), 3, "rounds"),
        (document("swiss", rounds=5), 5, "rounds"),
        (document("ladder"), 1000, "games in all"),
        (document("ladder", ladder={"games": 0, "max_games_per_bot": 40}), 40, "games of each bot"),
        (document("race", race={"games": 60}), 60, "games in all"),
        (document("sprt", sprt={"games": 80}), 80, "games in all"),
    ],
)
def test_length_counts_what_the_format_has(found: Document, count: int, unit: str) -> None:
    known = found.system.length(found, 4)
    assert (known.count, known.unit) == (count, unit)
    longer = read(extended(found, 4, to=count + known.step))
    assert longer.system.length(longer, 4) == Length(count + known.step, unit, known.step, known.table, known.key)
    assert longer == read(extended(found, 4, amount=known.step))


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (document("knockout"), "ends with its final"),
        (document("ladder", ladder={"games": 0}), "no end"),
        (document("round-robin", games=3), "must be even to extend"),
    ],
)
def test_length_of_what_cannot_be_longer_says_why(found: Document, words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        found.system.length(found, 4)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"to": 4}, "more than its 4 games of each pairing; write 6 or more"),
        ({"to": 2}, "more than its 4"),
        ({"to": 7}, "must be even"),
        ({"amount": 1}, "must be even"),
        ({"amount": 0}, "between 1 and"),
        ({"to": 10**7}, "between 1 and"),
        ({"to": 6, "amount": 2}, "either"),
        ({}, "either"),
    ],
)
def test_extended_wrong_numbers_are_refused_in_words(how: dict[str, int], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        extended(document("round-robin", games=4), 4, **how)


def test_planned_counts_what_is_to_be_played_and_no_cancelled_game() -> None:
    cup = document("round-robin", games=2)
    assert cup.system.plan_size(cup, SEATS, [], 0) == PlanItem(12, games_per_pairing=2, rounds=3)
    seeds = [Seed(0), Seed(1), Seed(2, is_withdrawn=True), Seed(3)]
    games = [
        TournamentGame(1, 1, 1, 0, 3, "done", 1.0, 1),
        TournamentGame(2, 1, 1, 3, 0, "open"),
        TournamentGame(3, 1, 2, 1, 2, "cancelled"),
        TournamentGame(4, 1, 2, 2, 1, "cancelled"),
    ]
    assert cup.system.plan_size(cup, seeds, games, 2).games == 6
    swiss = document("swiss", rounds=3)
    assert swiss.system.plan_size(swiss, seeds, games, 2) == PlanItem(2 + 2 * 2, games_per_pairing=2, rounds=3)


def test_planned_where_results_decide_is_the_most_there_can_be() -> None:
    test = document("sprt", sprt={"games": 80})
    assert test.system.plan_size(test, SEATS[:2], [], 0) == PlanItem(80, is_most=True)
    capped = document("ladder", ladder={"games": 0, "max_games_per_bot": 40})
    assert capped.system.plan_size(capped, SEATS, [], 0) == PlanItem(80, is_most=True)
