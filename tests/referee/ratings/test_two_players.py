"""Compiled TrueSkill has every digit of the package, and leaves to it what is out of the ordinary."""

from __future__ import annotations

import random

import numpy as np
import pytest

from referee.ratings import two_players
from referee.ratings.trueskill import SIGMA, Rating, draw_margin, update
from referee.ratings.two_players import Floats, play

CHANCE = 0.1


def by_package(table: Floats, seats: list[tuple[int, int]], points: list[float]) -> Floats:
    """The same games, each rated by `update`."""
    ratings = [Rating(*line) for line in table.tolist()]
    rows = []
    for (one, two), scored in zip(seats, points, strict=True):
        before = ratings[one], ratings[two]
        ratings[one], ratings[two] = after = update(*before, scored, CHANCE)
        rows.append([n for old, new in zip(before, after, strict=True) for n in (old.mu, old.sigma, new.mu, new.sigma)])
    return np.array(rows)


def test_every_digit_is_that_of_the_package() -> None:
    rng = random.Random(20)
    table = np.array([(rng.uniform(0, 50), rng.choice((SIGMA, rng.uniform(0.3, 8.4)))) for _ in range(40)])
    seats = [tuple(rng.sample(range(40), 2)) for _ in range(1500)]
    points = [rng.choice((0.0, 0.5, 1.0)) for _ in seats]
    expected = by_package(table, seats, points)  # type: ignore[arg-type]
    assert two_players.is_exact(CHANCE)
    assert np.array_equal(play(table, np.array(seats), np.array(points), [CHANCE] * len(seats)), expected)


def test_every_digit_is_the_same_without_a_compiler() -> None:
    rng = random.Random(21)
    for _ in range(1500):
        first, second = (Rating(rng.uniform(-20, 70), rng.choice((SIGMA, rng.uniform(0.1, 8.4)))) for _ in range(2))
        points = rng.choice((0.0, 0.5, 1.0))
        assert two_players.update_quickly(first, second, points, CHANCE) == update(first, second, points, CHANCE)


@pytest.mark.parametrize("points", [1.0, 0.0, 0.5])
def test_an_upset_that_underflows_is_left_to_the_package(points: float) -> None:
    table = np.array([(-400.0, 0.5), (400.0, 0.5)] if points else [(400.0, 0.5), (-400.0, 0.5)])
    both = np.concatenate([table[0], table[1]] if points else [table[1], table[0]])
    square = two_players._SQUARE
    assert not two_players._rate(both, draw_margin(CHANCE), points == 0.5, square, -square)
    one, two = (Rating(*line) for line in table.tolist())
    assert two_players.update_quickly(one, two, points, CHANCE) == update(one, two, points, CHANCE)
    expected = by_package(table, [(0, 1), (1, 0)], [points, points])
    assert np.array_equal(play(table, np.array([[0, 1], [1, 0]]), np.array([points] * 2), [CHANCE] * 2), expected)
    assert table.tolist() == [expected[1, 6:].tolist(), expected[1, 2:4].tolist()], "the table stands after both games"


def test_what_does_not_agree_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    def other(_table: Floats, _seats: object, points: Floats, _margins: object, changes: Floats, *_: object) -> int:
        changes[:] = 1.0
        return len(points)

    two_players.is_exact.cache_clear()
    monkeypatch.setattr(two_players, "_rate_all", other)
    try:
        assert not two_players.is_exact(CHANCE)
        table = np.array([(25.0, SIGMA), (30.0, 2.0)])
        expected = by_package(table, [(0, 1)], [1.0])
        assert np.array_equal(play(table, np.array([[0, 1]]), np.array([1.0]), [CHANCE]), expected)
    finally:
        two_players.is_exact.cache_clear()
