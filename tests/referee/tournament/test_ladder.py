"""Ladder: pairings by example, sides, openings and limits; the laws are in `test_formats`."""

from __future__ import annotations

import random

import pytest

from referee.ratings.trueskill import TrueSkillRating, update
from referee.tournament.formats.ladder import information, step
from referee.tournament.match import NextStep, PlannedMatch, Seed, State, TournamentGame


def seeds(*sigmas: float) -> list[Seed]:
    """Return seeds of equal strength with these uncertainties."""
    return [Seed(number, sigma=sigma) for number, sigma in enumerate(sigmas)]


def played(*pairs: tuple[int, int], state: State = "done") -> list[TournamentGame]:
    """Return both games of every pair, drawn if they are over."""
    points = 0.5 if state == "done" else None
    return [
        TournamentGame(
            2 * number + half, 1, number + 1, *(sides if half == 0 else sides[::-1]), state, points, 2 * number + half
        )
        for number, sides in enumerate(pairs)
        for half in (0, 1)
    ]


def chosen(field: list[Seed], games: list[TournamentGame], count: int = 1) -> list[tuple[int, int]]:
    """Return the next pairings of an endless ladder, lower seat first."""
    waiting = len({game.pair for game in games if game.is_open})
    found = step(0, 0, field, games, waiting + count).matches
    return [(min(one.first, one.second), max(one.first, one.second)) for one in found]


def test_ladder_information_is_the_decrease_of_variance_by_trueskill() -> None:
    rng = random.Random(1)
    for _ in range(20):
        first, second = (
            TrueSkillRating(rng.uniform(15, 35), rng.uniform(1, 8)),
            TrueSkillRating(rng.uniform(15, 35), rng.uniform(1, 8)),
        )
        first_seed, second_seed = Seed(0, mu=first.mu, sigma=first.sigma), Seed(1, mu=second.mu, sigma=second.sigma)
        before = first.sigma**2 + second.sigma**2
        after = [sum(rating.sigma**2 for rating in update(first, second, points, 1e-9)) for points in (1.0, 0.0)]
        won = chance_of(first, second)
        expected = before - (won * after[0] + (1 - won) * after[1])
        assert information(first_seed, second_seed) == pytest.approx(expected, rel=1e-3)
        assert information(second_seed, first_seed) == pytest.approx(expected, rel=1e-3)


def chance_of(one: TrueSkillRating, two: TrueSkillRating) -> float:
    """Return the win probability: mu is a martingale, so it is where the two possible changes of mu cancel out."""
    up = update(one, two, 1.0, 1e-9)[0].mu - one.mu
    down = one.mu - update(one, two, 0.0, 1e-9)[0].mu
    return down / (up + down)


def test_sides_and_openings_go_on_from_one_meeting_of_two_bots_to_the_next() -> None:
    field = seeds(8, 8)
    assert step(8, 0, field, [], 8).matches == (
        PlannedMatch(1, 0, 1, 0),
        PlannedMatch(1, 1, 0, 1),
        PlannedMatch(1, 0, 1, 2),
        PlannedMatch(1, 1, 0, 3),
    )
    once, twice = played((0, 1)), played((0, 1), (1, 0))
    assert step(0, 0, field, once, 1).matches == (PlannedMatch(1, 1, 0, 1),)
    assert step(0, 0, field, twice, 1).matches == (PlannedMatch(1, 0, 1, 2),)
    called_off = played((0, 1), state="cancelled")
    assert step(0, 0, field, called_off, 1).matches == (PlannedMatch(1, 0, 1, 0),)


def test_the_withdrawn_are_not_paired_and_their_open_games_hurt_nobody() -> None:
    field = [Seed(0), Seed(1), Seed(2, is_withdrawn=True)]
    assert chosen(field, [], 3) == [(0, 1)] * 3
    for pair in ((0, 2), (2, 0)):
        assert chosen(field, played(pair, state="open")) == [(0, 1)]


@pytest.mark.parametrize(
    ("sigma", "count", "expected"),
    [
        # 0 and 1 begin with sigma 8: one game will leave some 6.9 of it, two 6.1, three 5.4.
        (7.5, 1, (2, 3)),
        (6.5, 1, (0, 1)),
        (6.5, 2, (2, 3)),
        (5.7, 2, (0, 1)),
    ],
)
def test_open_games_count_as_if_played(sigma: float, count: int, expected: tuple[int, int]) -> None:
    field = seeds(8, 8, sigma, sigma)
    assert chosen(field, played((0, 1), state="open")[:count]) == [expected]
    assert chosen(field, played((0, 1))[:count]) == [(0, 1)], "the ratings know of games that are over"
    if count == 2:
        assert chosen(field, [], 2) == [(0, 1), expected], "pairs planned together count as well"


def test_ladder_open_games_reduce_variance_and_one_sided_ones_do_not() -> None:
    sure = seeds(0.9, 0.9, 0.9, 0.9)
    assert chosen(sure, played((0, 1), state="open")) == [(2, 3)]
    assert chosen(sure, [], 2) == [(0, 1), (2, 3)]
    assert information(Seed(0, mu=0.0, sigma=1), Seed(1, mu=1e6, sigma=1)) == 0
    assert information(Seed(1, mu=1e6, sigma=1), Seed(0, mu=0.0, sigma=1)) == 0


def test_ladder_breaks_ties_by_rare_pairing_then_by_rest() -> None:
    field = seeds(4, 4, 4, 4)
    assert chosen(field, []) == [(0, 1)]
    assert chosen(seeds(4, 4, 4), played((0, 1))) == [(0, 2)]
    assert chosen(field, played((0, 1))) == [(2, 3)]
    assert chosen(field, played((0, 1), (2, 3), (0, 2))) == [(1, 3)]
    # All have met once but 1 and 2, who played the most.
    assert chosen(field, played((0, 1), (0, 2), (0, 3), (1, 3), (2, 3), (3, 1), (3, 2))) == [(1, 2)]


def test_ladder_waits_are_at_most_two_pairs_per_bot() -> None:
    field = seeds(8, 8, 0.1)
    assert chosen(field, [], 8) == [(0, 1)] * 6 + [(0, 2), (0, 1)]
    assert chosen(field, played(*[(0, 1)] * 5)) == [(0, 1)]
    assert chosen(field, played(*[(0, 1)] * 6)) == [(0, 2)]
    # Who waited may have played before: patience counts from its last pair.
    assert chosen(field, played((0, 2), *[(0, 1)] * 5)) == [(0, 1)]
    assert chosen(field, played((0, 2), *[(0, 1)] * 6)) == [(1, 2)]


def test_ladder_pairs_a_waiting_bot_by_information_then_by_rest() -> None:
    waited = [(0, 1)] * 8
    assert chosen(seeds(7, 8, 0.1, 6), played(*waited[:7], (1, 3))) == [(1, 2)]
    assert chosen(seeds(8, 8, 0.1, 8), played(*waited[:7], (1, 3))) == [(2, 3)]
    assert chosen(seeds(8, 8, 0.1, 0.1), played(*waited)) == [(0, 2)]
    # 2 and 3 wait since the same pair, and 3 played less before it; of 0 and 1, 1 did.
    assert chosen(seeds(8, 8, 0.1, 0.1), played((0, 2), (2, 3), *waited)) == [(1, 3)]


def test_a_ladder_ends_with_its_games() -> None:
    field = seeds(8, 8)
    assert len(step(6, 0, field, [], 8).matches) == 3
    assert len(step(6, 0, field, [], 2).matches) == 2
    assert len(step(4, 0, field, played((0, 1)), 8).matches) == 1
    assert len(step(4, 0, field, played((0, 1), (1, 0), state="cancelled"), 8).matches) == 2
    assert step(4, 0, field, played((0, 1), (1, 0)), 8) == NextStep(is_finished=True, reason="4 games played")
    assert step(5, 0, field, played((0, 1), (1, 0)), 8).is_finished, "half a pair is not played"
    assert not step(4, 0, field, played((0, 1), (1, 0), state="open"), 8).is_finished


def test_ladder_ends_when_all_bots_have_their_games() -> None:
    field = seeds(8, 8)
    assert len(step(0, 4, field, played((0, 1)), 8).matches) == 1
    assert len(step(0, 4, field, [], 8).matches) == 2
    assert step(0, 4, field, played((0, 1), (1, 0)), 1) == NextStep(
        is_finished=True, reason="all bots have played 4 games"
    )
    assert not step(0, 4, field, played((0, 1), (1, 0), state="open"), 8).is_finished
    # 1 has its four games, so 0 and 2 meet whatever their meeting tells.
    assert chosen_with_cap(4, seeds(8, 8, 0.1), played((0, 1), (1, 2))) == [(0, 2)]


def chosen_with_cap(cap: int, field: list[Seed], games: list[TournamentGame]) -> list[tuple[int, int]]:
    """Return all remaining pairings of a ladder with a limit on the games of each bot."""
    return [(min(one.first, one.second), max(one.first, one.second)) for one in step(0, cap, field, games, 8).matches]


def test_ladder_plans_a_number_of_pairs_ahead() -> None:
    field = seeds(8, 8)
    assert len(step(0, 100, field, played((0, 1), state="open"), 3).matches) == 2
    assert step(0, 100, field, played((0, 1), state="open"), 1) == NextStep()
    assert len(step(0, 100, field, played((0, 1)), 1).matches) == 1


def test_a_ladder_rests_once_all_bots_have_their_games_and_pairs_a_new_bot_with_any() -> None:
    field = seeds(8, 8)
    assert step(0, 0, field, played((0, 1)), 4, rest=4).matches == (PlannedMatch(1, 1, 0, 1),)
    games = played((0, 1), (1, 0))
    assert step(0, 0, field, games, 4, rest=4) == NextStep()
    found = step(0, 0, seeds(8, 8, 8), games, 4, rest=4).matches
    assert len(found) == 2
    assert all(2 in (one.first, one.second) for one in found)


def test_a_resting_ladder_with_a_limit_for_each_bot_does_not_finish() -> None:
    games = played((0, 1), (1, 0))
    assert step(0, 4, seeds(8, 8), games, 4).is_finished
    assert not step(0, 4, seeds(8, 8), games, 4, rest=4).is_finished
