"""How long a bot thinks: budgets for every kind of `go`, and what ends a search."""

from __future__ import annotations

import math

import pytest

from bots.clock import Clock
from protocol.messages import Go


class Hands:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize("left", [0, 1, 50, 150, 151, 400, 1000, 60_000, 3_600_000])
@pytest.mark.parametrize("increment", [0, 50, 1000, 100_000])
def test_a_budget_never_uses_up_the_clock(left: int, increment: int) -> None:
    for side, go in ((0, Go(left, 77, increment, 5)), (1, Go(77, left, 5, increment))):
        clock = Clock(go, side)
        assert (clock.time_left_ms, clock.increment_ms, clock.opponent_left_ms) == (left, increment, 77)
        assert 0 < clock.budget_ms() <= max(1.0, (left - 150) / 2)
        assert clock.is_timed


def test_a_long_game_at_a_second_and_a_twentieth_never_ends_on_time() -> None:
    left, lost_ms = 1000.0, 20.0  # what the pipes and a busy machine take of every move
    for _ in range(500):
        left -= Clock(Go(int(left), 1, 50, 50), 0).budget_ms() + lost_ms
        assert left > 150
        left += 50


@pytest.mark.parametrize(("move", "budget"), [(0, 0), (1, 0.5), (20, 10), (100, 75), (1000, 975)])
def test_a_move_time_is_kept_with_room_to_answer(move: int, budget: float) -> None:
    assert Clock(Go(movetime=move), 0).budget_ms() == budget


def test_depth_nodes_and_infinite_are_not_timed() -> None:
    for go in (Go(depth=3), Go(nodes=100), Go(infinite=True), Go()):
        clock = Clock(go, 0)
        assert math.isinf(clock.budget_ms())
        assert not clock.is_timed
        assert not clock.should_stop()
        assert (clock.depth, clock.nodes) == (go.depth, go.nodes)


def test_the_deadline_is_counted_from_the_beginning() -> None:
    hands = Hands()
    clock = Clock(Go(movetime=1000), 0, now=hands)
    hands.now += 0.974
    assert not clock.should_stop()
    assert clock.elapsed_ms() == pytest.approx(974)
    assert clock.remaining_ms() == pytest.approx(1)
    hands.now += 0.002
    assert clock.should_stop()
    assert clock.remaining_ms() == 0


def test_stop_is_seen_by_compiled_code_too() -> None:
    clock = Clock(Go(infinite=True), 0)
    numbers = [9, 9]
    with clock.stops(numbers, 1):
        assert numbers == [9, 0]
        clock.stop()
        assert numbers == [9, 1]
    assert clock.should_stop()
    with clock.stops(numbers, 0):
        assert numbers == [1, 1]
    clock.wait()


def test_a_deadline_sets_the_flag() -> None:
    clock = Clock(Go(movetime=10), 0)
    numbers = [0]
    with clock.stops(numbers, 0):
        clock.wait()
        while not numbers[0]:
            pass
    assert clock.should_stop()


def test_a_bot_may_be_told_to_do_with_fewer_nodes() -> None:
    for given, most, left in ((None, 0, None), (None, 7, 7), (100, 7, 7), (5, 7, 5), (5, 0, 5)):
        clock = Clock(Go(nodes=given), 0)
        clock.cap_nodes(most)
        assert clock.nodes == left
