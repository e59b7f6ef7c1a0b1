"""What is counted beside a rating, who is counted, how they are ordered, and the update beside the package's own."""

from __future__ import annotations

import random
import warnings
from dataclasses import replace

import pytest

from referee.game.record import GameRecord
from referee.ratings.trueskill import (
    BETA,
    PROVISIONAL_GAMES,
    PROVISIONAL_SIGMA,
    SUCCESSOR_SIGMA,
    TrueSkillRating,
    fold,
    leaderboard,
    pool_of,
    start,
    update,
)
from referee.rules import load
from referee.rules.core import Kind, Termination
from tests.conftest import EFFORT
from tests.referee.conftest import a_record, results

with warnings.catch_warnings():
    warnings.simplefilter("ignore", SyntaxWarning)
    import trueskill

DRAWS = 0.1
"""How likely a draw is between equals."""
FEW_DRAWS = 0.02


def counts(rating: TrueSkillRating) -> tuple[int, int, int, int]:
    """Games, wins, draws, losses."""
    return rating.games, rating.wins, rating.draws, rating.losses


def game(first: str, second: str, winner: str | None, kind: Kind = Kind.RULES) -> GameRecord:
    """A finished game."""
    return a_record(first=first, second=second, winner=winner, kind=kind)


def test_each_result_is_counted_for_both_and_added_to_those_before() -> None:
    one, two = TrueSkillRating(games=9, wins=4, draws=3, losses=2), TrueSkillRating(games=6, wins=1, draws=2, losses=3)
    won = update(one, two, 1.0, DRAWS)
    assert [counts(rating) for rating in won] == [(10, 5, 3, 2), (7, 1, 2, 4)]
    drawn = update(one, two, 0.5, DRAWS)
    assert [counts(rating) for rating in drawn] == [(10, 4, 4, 2), (7, 1, 3, 3)]
    lost = update(one, two, 0.0, DRAWS)
    assert [counts(rating) for rating in lost] == [(10, 4, 3, 3), (7, 2, 2, 3)]


def test_winning_raises_mu_a_draw_brings_the_two_together_and_all_take_doubt_away() -> None:
    strong, weak = TrueSkillRating(30.0, 5.0), TrueSkillRating(20.0, 5.0)
    for points in (1.0, 0.5, 0.0):
        after = update(strong, weak, points, DRAWS)
        assert (after[0].mu > strong.mu) is (after[1].mu < weak.mu) is (points == 1.0)
        assert all(rating.sigma < 5.0 for rating in after)
    assert all(
        rating.sigma < 0.5 for rating in update(TrueSkillRating(25.0, 0.5), TrueSkillRating(25.0, 0.5), 1.0, DRAWS)
    )
    equal = update(TrueSkillRating(), TrueSkillRating(), 0.5, DRAWS)
    assert [rating.mu for rating in equal] == pytest.approx([25.0, 25.0])


def test_void_games_and_games_against_oneself_are_not_counted_and_forfeits_are() -> None:
    table = fold(
        [
            game("a", "b", None, Kind.VOID),
            game("c", "c", "first"),
            game("a", "b", "second", Kind.FORFEIT),
            game("b", "a", "draw", Kind.ADJUDICATION),
        ],
        DRAWS,
    )
    assert {name: counts(rating) for name, rating in table.items()} == {"a": (2, 0, 1, 1), "b": (2, 1, 1, 0)}
    assert table["b"].mu > 25.0 > table["a"].mu
    forfeit, rules = game("a", "b", "first", Kind.FORFEIT), game("a", "b", "first")
    assert fold([replace(forfeit, termination=Termination.TIME)], DRAWS) == fold([rules], DRAWS)


def test_a_fold_goes_on_from_ratings_and_leaves_them_as_they_were() -> None:
    before = {"a": TrueSkillRating(30.0, 2.0, games=7, wins=7), "z": TrueSkillRating(1.0, 1.0)}
    kept = dict(before)
    after = fold([game("a", "b", "first")], DRAWS, before)
    assert before == kept
    assert (counts(after["a"]), counts(after["b"]), after["z"]) == ((8, 8, 0, 0), (1, 0, 0, 1), before["z"])
    assert (after["a"], after["b"]) == update(before["a"], TrueSkillRating(), 1.0, DRAWS)


def test_a_rating_is_provisional_until_it_has_the_games_and_the_certainty() -> None:
    sure, unsure = PROVISIONAL_SIGMA, PROVISIONAL_SIGMA + 0.01
    assert not TrueSkillRating(25.0, sure, PROVISIONAL_GAMES).is_provisional
    assert TrueSkillRating(25.0, sure, PROVISIONAL_GAMES - 1).is_provisional
    assert TrueSkillRating(25.0, unsure, PROVISIONAL_GAMES).is_provisional


def test_everybody_starts_alike_and_a_successor_near_its_predecessor() -> None:
    assert start() == TrueSkillRating(25.0, 25.0 / 3)
    assert pytest.approx(25.0 / 6) == BETA
    assert start(TrueSkillRating(31.0, 1.5, games=90, wins=50, draws=20, losses=20)) == TrueSkillRating(
        31.0, SUCCESSOR_SIGMA
    )
    assert start(TrueSkillRating(31.0, 7.0, games=2)) == TrueSkillRating(31.0, 7.0)


def test_a_leaderboard_is_ordered_by_what_is_sure_and_then_by_name() -> None:
    table = {
        "b": TrueSkillRating(25.0, 1.0),
        "a": TrueSkillRating(25.0, 1.0),
        "wild": TrueSkillRating(40.0, 8.0),
        "c": TrueSkillRating(26.0, 1.0, 30, 9, 8, 13),
    }
    lines = leaderboard(table)
    assert [(line["rank"], line["name"], line["conservative"]) for line in lines] == [
        (1, "c", 23.0),
        (2, "a", 22.0),
        (3, "b", 22.0),
        (4, "wild", 16.0),
    ]
    assert lines[0] == {
        "rank": 1,
        "name": "c",
        "mu": 26.0,
        "sigma": 1.0,
        "conservative": 23.0,
        "games": 30,
        "wins": 9,
        "draws": 8,
        "losses": 13,
        "provisional": False,
    }
    assert lines[3]["provisional"] is True


@pytest.mark.parametrize(
    ("family", "variant", "options", "pool"),
    [
        ("loa", None, {}, "loa"),
        ("loa", "zen", {}, "loa/zen"),
        ("tablut", "bell_a1", {}, "tablut/bell_a1"),
        ("tablut", "bell", {"king_max_step": 4}, "tablut/bell+king_max_step=4"),
    ],
)
def test_a_pool_is_a_class_of_rules(family: str, variant: str | None, options: dict[str, int], pool: str) -> None:
    ruleset = load(family).settle(variant, options)
    assert pool_of(ruleset) == pool
    assert pool_of(ruleset, "remote") == f"{pool}/remote"


def rated_by_package(
    first: TrueSkillRating, second: TrueSkillRating, points: float, chance: float
) -> tuple[float, float, float, float]:
    """Mu and sigma of both after a game, by the factor graph of the package."""
    environment = trueskill.TrueSkill(25.0, 25.0 / 3, 25.0 / 6, 0.0, chance)
    players = [environment.create_rating(rating.mu, rating.sigma) for rating in (first, second)]
    if points == 0:
        players.reverse()
    rated = list(trueskill.rate_1vs1(*players, drawn=points == 0.5, env=environment))
    if points == 0:
        rated.reverse()
    return rated[0].mu, rated[0].sigma, rated[1].mu, rated[1].sigma


def test_updates_are_those_of_the_package() -> None:
    rng = random.Random(1)
    for _ in range(2_000 * EFFORT):
        first = TrueSkillRating(rng.uniform(10, 40), rng.uniform(0.5, 8.4))
        second = TrueSkillRating(rng.uniform(10, 40), rng.uniform(0.5, 8.4))
        points, chance = rng.choice([0.0, 0.5, 1.0]), rng.choice([0.02, 0.1, 0.25])
        a, b = update(first, second, points, chance)
        package = rated_by_package(first, second, points, chance)
        assert (a.mu, a.sigma, b.mu, b.sigma) == pytest.approx(package, rel=1e-12)


def test_impossible_upsets_do_not_crash() -> None:
    a, b = update(TrueSkillRating(1000, 1), TrueSkillRating(-1000, 1), 0.0, 0.1)
    assert (a.losses, b.wins) == (1, 1)


def test_a_fold_is_the_same_at_once_and_in_parts() -> None:
    records = results(*(f"{'abc'[n % 3]} {'bca'[n % 3]} {['1-0', '=', '0-1'][n % 5 % 3]}" for n in range(40)))
    assert fold(records[20:], FEW_DRAWS, fold(records[:20], FEW_DRAWS)) == fold(records, FEW_DRAWS)
    order = [line["name"] for line in leaderboard(fold(records, FEW_DRAWS))]
    table = fold(records, FEW_DRAWS)
    assert order == sorted(table, key=lambda name: -(table[name].mu - 3 * table[name].sigma))
