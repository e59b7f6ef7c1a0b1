"""Race: next pairings, end, and games saved."""

from __future__ import annotations

import heapq
import math
import random
from functools import partial

import pytest

from referee.ratings.race import Race
from referee.tournament.formats.race import state, step
from referee.tournament.match import NextStep, PlannedMatch, Seed, TournamentGame
from tests.conftest import EFFORT
from tests.referee.tournament.simulation import planned, run
from tests.tools.race import of_elo, simulate

RACE = Race(1, 0.05)
RACES = 40


def seeds(count: int, *gone: int) -> list[Seed]:
    """Return `count` seeds, some of them withdrawn."""
    return [Seed(number, number in gone) for number in range(count)]


def better_wins(game: TournamentGame) -> float:
    """Return a win of the lower seat, but a draw between 1 and 2."""
    if {game.first, game.second} == {1, 2}:
        return 0.5
    return float(game.first < game.second)


def played(games: list[TournamentGame]) -> list[TournamentGame]:
    """Return the games with their results."""
    return [game._replace(state="done", points=better_wins(game), order=game.sequence) for game in games]


def after(cycles: int, race: Race, count: int = 4) -> list[TournamentGame]:
    """Return all games of a race of four after this many pairs per pairing."""
    games: list[TournamentGame] = []
    for _ in range(cycles):
        games += played(planned(step(race, 4000, seeds(count), games, 6).matches, games))
    return games


def test_first_everybody_meets_everybody_with_an_opening_of_each_pair() -> None:
    meetings = step(RACE, 4000, seeds(3), [], 8).matches
    assert meetings[:3] == (PlannedMatch(1, 0, 1, 0), PlannedMatch(1, 0, 2, 1), PlannedMatch(1, 1, 2, 2))
    assert [(meeting.round, meeting.first > meeting.second, meeting.opening) for meeting in meetings[3:6]] == [
        (2, True, 3),
        (2, True, 4),
        (2, True, 5),
    ]
    assert len(meetings) == 8


def test_race_decided_bots_play_only_undecided_ones() -> None:
    race = Race(2, 0.05)
    games = after(12, race)
    standing = state(race, seeds(4), games)
    assert (standing.leaders, standing.undecided, standing.others) == ((0,), (1, 2), (3,))
    meetings = step(race, 4000, seeds(4), games, 5).matches
    pairs = [(min(meeting.first, meeting.second), max(meeting.first, meeting.second)) for meeting in meetings]
    assert pairs[0] == (1, 2), "what is in doubt comes first"
    assert sorted(pairs) == [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)]


def test_race_next_matches_depend_on_games_only() -> None:
    race = Race(2, 0.05)
    games = after(12, race)
    shuffled = random.Random(1).sample(games, len(games))
    assert step(race, 4000, seeds(4), shuffled, 5) == step(race, 4000, seeds(4), games, 5)
    whole = step(race, 4000, seeds(4), games, 5).matches
    begun = games + planned(whole[:3], games)
    assert step(race, 4000, seeds(4), begun, 5).matches == whole[3:], "what is on its way counts as played"


def test_race_decided_calls_off_open_games() -> None:
    games = after(12, RACE)
    assert state(RACE, seeds(4), games).leaders == (0,)
    assert step(RACE, 4000, seeds(4), games, 8) == NextStep(
        is_finished=True, reason=f"decided after {len(games)} games"
    )
    more = [*games, TournamentGame(999, 20, 999, 0, 1, "open"), TournamentGame(1000, 20, 999, 1, 0, "open")]
    plan = step(RACE, 4000, seeds(4), more, 8)
    assert (plan.matches, plan.is_finished, plan.calls_off) == ((), False, True)


def test_a_quick_pair_waits_for_the_one_planned_before_it() -> None:
    games = planned(step(RACE, 4000, seeds(2), [], 2).matches, [])
    late = [*games[:2], *played(games[2:])]
    assert state(RACE, seeds(2), late).cycles == {0: 0, 1: 0}
    assert state(RACE, seeds(2), played(games)).cycles == {0: 2, 1: 2}
    void = [games[0]._replace(state="void"), *played(games[1:])]
    assert state(RACE, seeds(2), void).cycles == {0: 1, 1: 1}, "half a pair says nothing, and does not hold up"


def test_race_ends_undecided_after_its_games() -> None:
    found = run(partial(step, RACE, 20, seeds(3), ahead=4), lambda game: 0.5)
    assert len(found) == 20
    assert step(RACE, 20, seeds(3), found, 4).reason == "undecided: all games played"
    void = run(partial(step, RACE, 20, seeds(3), ahead=4), lambda game: None)
    assert len(void) == 20


def test_the_withdrawn_leave_the_race_to_the_others() -> None:
    race = Race(2, 0.05)
    games = after(12, race)
    assert set(state(race, seeds(4, 1), games).shares) == {0, 2, 3}
    asked = step(race, 4000, seeds(4, 1), games, 12).matches
    assert {seat for one in asked for seat in (one.first, one.second)} == {0, 2, 3}
    assert step(race, 4000, seeds(4, 1, 2), games, 4).is_finished


def test_a_race_needs_a_third_fewer_games_than_a_round_robin_and_settles_what_is_so() -> None:
    question, chances = Race(3, 0.05), of_elo(500, 400, 150, 0, -200, -300, -400, -500)
    runs = {
        is_race: [simulate(question, chances, seed, is_race=is_race, ahead=8) for seed in range(3)]
        for is_race in (True, False)
    }
    assert all(run.is_settled and not run.is_wrong for same in runs.values() for run in same)
    raced, plain = (sum(run.games for run in runs[is_race]) for is_race in (True, False))
    assert raced < 0.7 * plain, (raced, plain)


def settles(rng: random.Random, slots: int, factor: float) -> bool:
    """Race two equal bots on so many slots; games that the first one loses last longer by `factor`."""
    field, games = seeds(2), list[TournamentGame]()
    ends: list[tuple[float, int, tuple[float, float]]] = []
    now = 0.0
    while True:
        following = step(RACE, 200, field, games, slots)
        if following.is_finished or following.calls_off:
            return state(RACE, field, games).is_settled
        fresh = planned(following.matches, games)
        for pair in zip(fresh[::2], fresh[1::2], strict=True):
            places = len(games)
            games += pair
            results = rng.choices((0.0, 1.0), k=2)
            lasting = sum(
                rng.lognormvariate(0, 0.5) * (factor if game.points_of(0) == 0 else 1)
                for game in (open_game._replace(points=points) for open_game, points in zip(pair, results, strict=True))
            )
            heapq.heappush(ends, (now + lasting, places, (results[0], results[1])))
        for _ in range(max(1, slots // 4)):
            if ends:
                now, place, results = heapq.heappop(ends)
                for number, points in enumerate(results, place):
                    games[number] = games[number]._replace(state="done", points=points, order=number + 1)


# On one slot the order of ends is that of beginnings, whatever lasts longer.
@pytest.mark.parametrize(("slots", "factor"), [(1, 1.0), (64, 1.0), (64, 3.0), *([(16, 1.5)] if EFFORT > 1 else [])])
def test_a_race_of_equal_bots_settles_seldom_on_any_number_of_slots(slots: int, factor: float) -> None:
    rng = random.Random(f"{slots} {factor}")
    wrong = sum(settles(rng, slots, factor) for _ in range(RACES))
    assert wrong <= RACES * RACE.error + 3 * math.sqrt(RACES * RACE.error * (1 - RACE.error))
