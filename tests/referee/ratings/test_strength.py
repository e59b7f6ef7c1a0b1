"""Elo, normalised Elo, likelihood of superiority and the rating of a successor: known values and laws."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.ratings.strength import elo_of, elo_words, estimate, is_estimate, pentanomial
from referee.ratings.trueskill import SUCCESSOR_SIGMA, TrueSkillRating, start
from referee.rules.core import Kind, Termination
from tests.referee.conftest import a_record
from tests.referee.tournament.rehearsal import table_of

PAIRS = st.lists(st.sampled_from([0.0, 0.5, 1.0, 1.5, 2.0]), max_size=60)


def test_known_values() -> None:
    assert elo_of(0.75) == pytest.approx(190.85, abs=0.01)
    assert pentanomial([0, 0.5, 1, 1, 1.5, 2, 2]) == (1, 1, 2, 1, 2)
    estimated = estimate([1.5] * 60 + [1.0] * 20 + [0.5] * 20)
    scores = [0.75] * 60 + [0.5] * 20 + [0.25] * 20
    mean = sum(scores) / 100
    deviation = math.sqrt(sum((score - mean) ** 2 for score in scores) / 100)
    assert estimated.score == pytest.approx(mean)
    assert estimated.normalised_elo == pytest.approx(800 / math.log(10) * (mean - 0.5) / (deviation * math.sqrt(2)))
    assert estimated.los == pytest.approx(0.5 * math.erfc(-(mean - 0.5) / (deviation / 10) / math.sqrt(2)))


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ([], "no estimate"),
        ([1.0], "no estimate"),
        ([2.0], "> +7"),
        ([2.0] * 8, "> +474"),
        ([0.0] * 8, "< -474"),
        ([2.0] * 400, "> +1165"),
        ([2.0] * 3 + [1.0], "> +117"),
        ([2.0] * 2 + [1.0] * 2, "> +3"),
        ([2.0, 2.0, 0.0, 1.0], "no estimate"),
        ([1.5] * 10 + [1.0] * 10, "+89 ± 41"),
        ([1.0] * 20, "+0 ± 17"),
    ],
)
def test_elo_words_with_an_open_interval_give_a_bound_or_nothing(pairs: list[float], words: str) -> None:
    found = estimate(pairs)
    assert elo_words(found.elo, found.elo_low, found.elo_high) == words
    assert is_estimate(found.elo_low, found.elo_high) == (words != "no estimate")


@given(PAIRS)
def test_the_other_side_of_a_match_is_its_mirror(points: list[float]) -> None:
    one, two = estimate(points), estimate([2 - point for point in points])
    assert one.score + two.score == pytest.approx(1)
    assert one.los + two.los == pytest.approx(1)
    assert one.elo == pytest.approx(-two.elo, abs=1e-6)
    assert one.normalised_elo == pytest.approx(-two.normalised_elo, abs=1e-6)
    assert one.elo_low == pytest.approx(-two.elo_high, abs=1e-6)
    assert one.pentanomial == two.pentanomial[::-1]


@given(PAIRS, st.lists(st.sampled_from([0.0, 0.5, 1.0]), max_size=9))
def test_everything_is_finite_and_the_interval_holds_the_score(points: list[float], singles: list[float]) -> None:
    found = estimate(points, singles)
    assert found.games == 2 * len(points) + len(singles)
    assert found.elo_low <= found.elo <= found.elo_high
    assert 0 <= found.los <= 1
    assert all(math.isfinite(value) for value in found.as_json().values() if isinstance(value, float))


def test_the_pairs_of_each_bot_are_its_own() -> None:
    lines = [("a", "b", "first", 1), ("b", "a", "draw", 1), ("c", "a", "first", 2), ("a", "c", "first", 2)]
    records = [
        a_record(id=f"{number:016x}", first=first, second=second, winner=winner, pair=pair)
        for number, (first, second, winner, pair) in enumerate([*lines, ("b", "c", "second", 3)])
    ]
    void = a_record(first="c", second="b", winner=None, kind=Kind.VOID, termination=Termination.STOPPED, pair=3)
    players = table_of([*records, void], ["a", "b", "c"]).scores.players
    assert players[0].estimate == estimate([1.5, 1.0])
    assert players[1].estimate == estimate([0.5], [0.0])
    assert players[2].estimate == estimate([1.0], [1.0])


def test_plain_data_is_rounded() -> None:
    estimated = estimate([1.5, 1.0, 2.0], [0.5])
    # Pairs of 0.75, 0.5 and 1 a game: a game deviates by the root of 1/12, the mean of seven by 0.1091 from 5/7.
    assert estimated.as_json() == {
        "games": 7,
        "pairs": 3,
        "pentanomial": [0, 0, 1, 1, 1],
        "score": 0.7143,
        "elo": 159.176,
        "elo_low": 0.303,
        "elo_high": 444.4383,
        "normalised_elo": 257.904,
        "los": 0.9752,
    }


def test_a_successor_starts_at_its_predecessors_mu_wide_and_provisional() -> None:
    assert start() == TrueSkillRating()
    begun = start(TrueSkillRating(31.0, 0.9, 200, 100, 50, 50))
    assert (begun.mu, begun.sigma, begun.games) == (31.0, SUCCESSOR_SIGMA, 0)
    assert begun.is_provisional
    assert start(TrueSkillRating(25.0, 7.0, 1, 1, 0, 0)).sigma == 7.0
