"""A sequential test keeps its risks on any number of slots, also where lost games last longer than won ones."""

from __future__ import annotations

import heapq
import math
import random
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.ratings.sprt import Model, Sprt, evaluate_points, games_left, history
from referee.tournament.document import read
from referee.tournament.formats.sprt import counted_pairs, verdict
from referee.tournament.match import TournamentGame
from tests.conftest import EFFORT

TEST = Sprt(0, 120)
"""Far hypotheses, so that a test takes some 60 pairs."""
TESTS = 120
TOLERANCE = 0.06
"""Three standard errors of a share of 0.05 in so many tests."""


def pair_of(number: int, points: float | None) -> list[TournamentGame]:
    """Return the games of a pair in which seat 0 scored so many points; None: both are open."""
    first = None if points is None else min(points, 1.0)
    second = None if points is None or first is None else 1 - (points - first)
    state = "open" if points is None else "done"
    return [
        TournamentGame(2 * number - 1, 1, number, 0, 1, state, first, 2 * number - 1 if points is not None else 0),
        TournamentGame(2 * number, 1, number, 1, 0, state, second, 2 * number if points is not None else 0),
    ]


def decide(rng: random.Random, chance: float, slots: int, factor: float) -> str:
    """Run a test on so many slots until it is decided; `factor` lengthens the games that seat 0 loses."""
    games: dict[int, list[TournamentGame]] = {}
    running: list[tuple[float, int, float]] = []
    now = 0.0
    while True:
        for _ in range(slots - len(running)):
            number = len(games) + 1
            results = [float(rng.random() < chance) for _ in range(2)]
            lasting = sum(rng.lognormvariate(0, 0.5) * (1 if result else factor) for result in results)
            games[number] = pair_of(number, None)
            heapq.heappush(running, (now + lasting, number, sum(results)))
        for _ in range(max(1, slots // 2, 4 if slots < 4 else 0)):
            if not running:
                break
            now, number, points = heapq.heappop(running)
            games[number] = pair_of(number, points)
        state = verdict(TEST, [game for pair in games.values() for game in pair]).state
        if state != "continue":
            return state


@pytest.mark.parametrize("counts", [(9, 3, 17, 4, 9), (8, 3, 17, 4, 12), (8, 2, 14, 4, 16)])
def test_the_estimate_of_the_games_left_is_right_on_average(counts: tuple[int, ...]) -> None:
    """Tests go on with the frequencies of their first pairs: of a weaker bot, of one in between, of a stronger one."""
    rng, test = random.Random(str(counts)), Sprt(0, 120, 0.001, 0.001)
    begun = [half / 2 for half, count in enumerate(counts) for _ in range(count)]
    lasting = []
    for _ in range(200):
        rng.shuffle(begun)
        more = rng.choices((0, 0.5, 1, 1.5, 2), [count + 0.25 for count in counts], k=2000)
        state, _ = history(test, [*begun, *more])
        assert state.state != "continue"
        lasting.append(2 * (state.pairs - len(begun)))
    left = games_left(test, evaluate_points(test, begun))
    assert left is not None
    assert left == pytest.approx(sum(lasting) / len(lasting), rel=0.25)


POINTS = st.lists(st.sampled_from([0.0, 0.5, 1.0, 1.5, 2.0]), min_size=1, max_size=60)


@given(POINTS, st.floats(-50, 50), st.floats(0.5, 50))
def test_normalised_elo_is_a_score_in_units_of_its_deviation(points: list[float], elo0: float, more: float) -> None:
    """With t the score above one half in deviations of a pair, the ratio is N (t1 - t0) (t - (t0 + t1) / 2)."""
    state = history(Sprt(elo0, elo0 + more, 1e-9, 1e-9, "normalised"), points)[0]
    weights = [count + 0.25 for count in state.pentanomial]
    scores = [half / 4 for half in range(5)]
    mean = sum(map(math.prod, zip(weights, scores, strict=True))) / sum(weights)
    squares = sum(weight * (score - mean) ** 2 for weight, score in zip(weights, scores, strict=True))
    t, t0, t1 = (
        (mean - 0.5) / math.sqrt(squares / sum(weights)),
        *(math.sqrt(2) * elo * math.log(10) / 800 for elo in (elo0, elo0 + more)),
    )
    assert state.llr == pytest.approx(state.pairs * (t1 - t0) * (t - (t0 + t1) / 2), abs=1e-6)


def test_both_models_agree_without_draws_in_independent_games() -> None:
    points = [0.0, 1.0, 1.0, 2.0] * 100
    logistic, normalised = (history(Sprt(0, 4, model=model), points)[0] for model in get_args(Model))
    assert normalised.llr == pytest.approx(logistic.llr, rel=0.05)
    assert normalised.pentanomial == logistic.pentanomial == (100, 0, 200, 0, 100)


def test_a_test_in_normalised_elo_takes_as_many_pairs_with_draws_as_without() -> None:
    """At the score of H0, pairs of which most are drawn: the logistic test is decided several times earlier."""
    few, many = [0.0, 1.0, 1.0, 2.0] * 5000, ([0.0, 2.0] + [1.0] * 18) * 1000
    pairs = {
        model: [history(Sprt(0, 10, model=model), points)[0].pairs for points in (few, many)]
        for model in get_args(Model)
    }
    assert pairs["normalised"][1] == pytest.approx(pairs["normalised"][0], rel=0.1)
    assert pairs["logistic"][1] < pairs["logistic"][0] / 3


@pytest.mark.parametrize("model", get_args(Model))
@pytest.mark.parametrize("draws", [0.2, 0.7])
def test_both_models_keep_their_risks(model: Model, draws: float) -> None:
    """A bot at the score of a hypothesis is judged wrongly in at most 5 % of the tests, within three errors."""
    rng, test = random.Random(f"{model} {draws}"), Sprt(0, 80, model=model)
    variance = (1 - draws) / 4 / 2
    wrong = {"H0": 0, "H1": 0}
    for score, truth in zip(test.scores(variance), ("H0", "H1"), strict=True):
        win, loss = score - draws / 2, 1 - score - draws / 2
        chances = (win * win, 2 * win * draws, draws * draws + 2 * win * loss, 2 * draws * loss, loss * loss)
        for _ in range(200):
            points = rng.choices((2.0, 1.5, 1.0, 0.5, 0.0), chances, k=1500)
            wrong[truth] += verdict_of(test, points) != truth
    assert max(wrong.values()) <= 200 * 0.05 + 3 * math.sqrt(200 * 0.05 * 0.95)


def verdict_of(test: Sprt, points: list[float]) -> str:
    """Return the decision of a test."""
    state = evaluate_points(test, points).state
    assert state != "continue"
    return state


def test_the_model_of_a_test_is_read() -> None:
    document = {"name": "t", "family": "loa", "format": "sprt", "entries": {"bots": ["a", "b"]}}
    assert read(document).sprt.sprt == Sprt(0, 10)
    assert read({**document, "sprt": {"model": "normalised"}}).sprt.sprt == Sprt(0, 10, model="normalised")


def test_no_games_are_left_of_a_decided_test_and_few_pairs_say_nothing() -> None:
    decided = evaluate_points(TEST, [2.0] * 40)
    assert decided.state == "H1"
    assert games_left(TEST, decided) is None
    few, enough = (evaluate_points(Sprt(0, 10), [1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0][:pairs]) for pairs in (7, 8))
    assert games_left(Sprt(0, 10), few) is None
    assert games_left(Sprt(0, 10), enough) is not None


def test_without_a_drift_the_estimate_is_that_of_a_fair_walk() -> None:
    """Equal bots in a test of equal distances: the estimate has no jump where the drift is zero."""
    near = [history(Sprt(-10 + shift, 10 + shift), [0.0, 1.0, 2.0] * 10)[0] for shift in (-0.01, 0.0, 0.01)]
    left = [
        games_left(Sprt(-10 + shift, 10 + shift), state) for shift, state in zip((-0.01, 0.0, 0.01), near, strict=True)
    ]
    assert left[1] is not None
    assert all(one is not None and abs(one - left[1]) <= 0.01 * left[1] for one in left)


@pytest.mark.parametrize("slots", [1, 64] if EFFORT == 1 else [1, 16, 64])
@pytest.mark.parametrize("factor", [1.0, 3.0] if EFFORT == 1 else [1.0, 1.5, 3.0])
def test_a_test_keeps_its_risks_on_any_number_of_slots(slots: int, factor: float) -> None:
    rng = random.Random(f"{slots} {factor}")
    stronger = 1 / (1 + 10 ** (-TEST.elo1 / 400))
    wrong_h1 = sum(decide(rng, 0.5, slots, factor) == "H1" for _ in range(TESTS)) / TESTS
    wrong_h0 = sum(decide(rng, stronger, slots, factor) == "H0" for _ in range(TESTS)) / TESTS
    assert wrong_h1 <= TEST.alpha + TOLERANCE
    assert wrong_h0 <= TEST.beta + TOLERANCE


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0, 1.5, 2.0]), max_size=40), st.randoms(use_true_random=False))
def test_pairs_count_in_the_order_in_which_they_began(results: list[float], rng: random.Random) -> None:
    order = list(range(1, len(results) + 1))
    rng.shuffle(order)
    games = {number: pair_of(number, None) for number in order}
    for done, number in enumerate(order, 1):
        games[number] = pair_of(number, results[number - 1])
        points, waiting = counted_pairs([game for pair in games.values() for game in pair])
        assert points == results[: len(points)]
        assert len(points) + waiting == done
        assert len(points) == len(results) or games[len(points) + 1][0].is_open
    points, waiting = counted_pairs([game for pair in games.values() for game in pair])
    assert (points, waiting) == (results, 0)
    assert history(TEST, points)[0] == verdict(TEST, [game for pair in games.values() for game in pair])


def test_a_game_that_is_played_again_holds_back_later_pairs_until_it_is_over() -> None:
    games = [*pair_of(1, 2.0), *pair_of(2, 2.0), *pair_of(3, 2.0)]
    games[2] = games[2]._replace(state="open", points=None)
    assert counted_pairs(games) == ([2.0], 1)
    games[2] = games[2]._replace(state="void")
    assert counted_pairs(games) == ([2.0, 2.0], 0)
