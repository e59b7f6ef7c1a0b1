"""How long a bot thinks: budgets for every kind of `go`, and what ends a search."""

from __future__ import annotations

import pytest

from bots.sdk.clock import LAG_ANSWERS, Clock, Lag
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


@pytest.mark.parametrize("moves", [2, 10, 25])
def test_a_plan_says_how_soon_a_clock_is_used_and_keeps_the_reserve(moves: int) -> None:
    left = 1000.0
    for _ in range(500):
        clock = Clock(Go(int(left), 1, 50, 50), 0)
        clock.plan(moves, 0.9)
        assert clock.budget_ms() == max(1, min((int(left) - 150) / 2, (int(left) - 150) / moves + 45))
        left += 50 - clock.budget_ms() - 4
        assert left > 150


def test_a_plan_moves_the_deadline() -> None:
    hands = Hands()
    clock = Clock(Go(1150, 1, 100, 100), 0, now=hands)
    clock.plan(10, 0.5)
    assert clock.remaining_ms() == pytest.approx(150)


@pytest.mark.parametrize(("move", "budget"), [(0, 0), (1, 0.5), (20, 10), (300, 150), (500, 350), (1000, 850)])
def test_a_move_time_is_kept_with_room_to_answer(move: int, budget: float) -> None:
    assert Clock(Go(movetime=move), 0).budget_ms() == budget


def test_depth_nodes_and_infinite_are_not_timed() -> None:
    for go in (Go(depth=3), Go(nodes=100), Go(infinite=True), Go()):
        clock = Clock(go, 0)
        assert clock.budget_ms() is None
        assert not clock.is_timed
        assert not clock.should_stop()
        assert (clock.depth, clock.nodes) == (go.depth, go.nodes)


def test_the_deadline_is_counted_from_the_beginning() -> None:
    hands = Hands()
    clock = Clock(Go(movetime=1000), 0, now=hands)
    hands.now += 0.849
    assert not clock.should_stop()
    assert clock.elapsed_ms() == pytest.approx(849)
    assert clock.overrun_ms() == pytest.approx(-1)
    assert clock.remaining_ms() == pytest.approx(1)
    hands.now += 0.002
    assert clock.should_stop()
    assert clock.remaining_ms() == 0
    assert clock.overrun_ms() == pytest.approx(1)


def test_the_deadline_is_counted_from_when_the_line_came() -> None:
    hands = Hands()
    clock = Clock(Go(movetime=1000), 0, now=hands, started=hands.now - 0.3)
    assert clock.elapsed_ms() == pytest.approx(300)
    assert clock.remaining_ms() == pytest.approx(550)


def test_what_was_late_is_kept_in_reserve() -> None:
    lag = Lag()
    assert lag.ms == 0
    for late_ms in (-40, 12, 60, 5):
        lag.add(late_ms)
    assert lag.ms == 60
    assert Clock(Go(movetime=1000), 0, lag_ms=lag.ms).budget_ms() == 790
    assert Clock(Go(60_000, 1, 0, 0), 0, lag_ms=lag.ms).budget_ms() == pytest.approx((60_000 - 210) / 30)
    assert Clock(Go(200, 1, 50, 0), 0, lag_ms=lag.ms).budget_ms() == 1, "the clock has no more than the reserve"
    for _ in range(LAG_ANSWERS):
        lag.add(0)
    assert lag.ms == 0


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
