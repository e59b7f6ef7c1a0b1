"""Shares of tournaments in the games that are handed out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.coordinator.shares import LEAST_WEIGHT, Shares, weights

PRIORITIES = st.dictionaries(st.integers(1, 6), st.integers(-100, 100), min_size=1)


def served(shares: Shares, priorities: Mapping[int, int], games: int) -> list[int]:
    """Hand out so many games of tournaments that always have some, one at a time."""
    weight = weights(priorities)
    order = []
    for _ in range(games):
        order.append(min(priorities, key=lambda number: (shares.time(number), -weight[number], number)))
        shares.serve(order[-1], 1, weight[order[-1]])
    return order


def test_five_more_is_twice_the_weight_down_to_a_sixteenth() -> None:
    assert weights({1: 0, 2: 5, 3: 10, 4: -100}) == pytest.approx({1: 1 / 4, 2: 1 / 2, 3: 1, 4: LEAST_WEIGHT})
    assert weights({1: -100}) == {1: 1.0}
    assert weights({}) == {}


@given(PRIORITIES)
def test_shares_follow_the_weights(priorities: dict[int, int]) -> None:
    weight, games = weights(priorities), 3000
    counts = Counter(served(Shares(), priorities, games))
    for number in priorities:
        assert abs(counts[number] - games * weight[number] / sum(weight.values())) <= len(priorities) + 1


@given(PRIORITIES, PRIORITIES, st.integers(0, 200))
def test_no_tournament_waits_longer_than_its_weight_says(
    before: dict[int, int], priorities: dict[int, int], games: int
) -> None:
    """Whatever was played before, with any priorities and other tournaments."""
    shares = Shares()
    served(shares, before, games)
    order = served(shares, priorities, 16 * 16 * 7)
    longest = 1 / LEAST_WEIGHT * sum(weights(priorities).values()) + len(priorities) + 1
    for number in priorities:
        places = [-1, *(place for place, turn in enumerate(order) if turn == number)]
        waits = [later - earlier for earlier, later in pairwise(places)]
        assert waits, "it had a turn"
        assert max(waits) <= 16 * longest


def test_a_tournament_that_rested_is_next_and_has_saved_up_nothing() -> None:
    shares = Shares()
    served(shares, {1: 0, 2: 0}, 100)
    assert served(shares, {1: 0, 2: 0, 3: -10}, 100)[:3].count(3) == 1
    served(shares, {1: 0, 2: 0}, 100)
    assert Counter(served(shares, {1: 0, 2: 0, 3: -10}, 90)) == {1: 40, 2: 40, 3: 10}
