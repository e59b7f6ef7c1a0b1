"""What is left on the clocks, when a flag falls, and what the bots are told."""

from __future__ import annotations

import pytest

from referee.game.clock import GameClock
from referee.game.spec import TimeControl

MARGIN = 50


def clock(base: int = 1000, increment: int = 100) -> GameClock:
    return GameClock(TimeControl("clock", base, increment), MARGIN)


def test_what_a_move_takes_comes_off_and_the_increment_is_added() -> None:
    found = clock()
    assert found.left_ms == [1000, 1000]
    assert found.charge(0, 300)
    assert found.left_ms == [800, 1000]
    assert found.charge(1, 1000)
    assert found.left_ms == [800, 100]


def test_the_margin_is_nobodys_time() -> None:
    running = clock()
    assert running.allowance_ms(0) == 1000 + MARGIN
    assert running.charge(0, 1000 + MARGIN), "overstepped by no more than the margin"
    assert running.left_ms[0] == 100, "and nothing is owed"
    assert running.allowance_ms(0) == 100 + MARGIN
    assert not running.charge(0, 100 + MARGIN + 1)
    assert running.left_ms[0] == -MARGIN - 1, "a fallen flag gets no increment"
    assert running.allowance_ms(0) == MARGIN
    assert running.left_ms[1] == 1000


def test_clock_without_a_margin_allows_the_time_left() -> None:
    assert GameClock(TimeControl("clock", 1000, 0)).allowance_ms(0) == 1000


def test_a_fixed_time_a_move_is_the_same_every_time() -> None:
    found = GameClock(TimeControl("movetime", 200), MARGIN)
    for _ in range(3):
        assert found.allowance_ms(0) == found.allowance_ms(1) == 200 + MARGIN
        assert found.charge(0, 200 + MARGIN)
        assert not found.charge(1, 200 + MARGIN + 1)
        assert found.words(0) == b"movetime 200"


@pytest.mark.parametrize("kind", ["depth", "nodes"])
def test_a_search_limit_knows_no_time(kind: str) -> None:
    found = GameClock(TimeControl(kind, 0, 0, 7), MARGIN)  # type: ignore[arg-type]
    assert found.allowance_ms(0) is None
    assert found.charge(0, 10**9)
    assert found.words(0) == f"{kind} 7".encode()


def test_both_sides_are_told_both_clocks_and_never_zero() -> None:
    running = clock(base=1000, increment=5)
    running.charge(0, 250.4)
    assert running.words(0) == b"p1time 754 p2time 1000 p1inc 5 p2inc 5"
    assert clock(base=2, increment=0).words(0) == b"p1time 2 p2time 2 p1inc 0 p2inc 0"
    running = clock(base=1, increment=0)
    assert running.words(0) == b"p1time 1 p2time 1 p1inc 0 p2inc 0"
    running.charge(1, 1)
    running.charge(0, 1)
    assert running.words(0) == b"p1time 1 p2time 1 p1inc 0 p2inc 0"


def test_each_side_may_have_a_time_control_of_its_own() -> None:
    found = GameClock(TimeControl("clock", 1000, 100), MARGIN, second=TimeControl("clock", 200, 5))
    assert found.words(0) == found.words(1) == b"p1time 1000 p2time 200 p1inc 100 p2inc 5"
    assert found.charge(0, 100)
    assert found.charge(1, 100)
    assert found.left_ms == [1000, 105]
    assert not found.charge(1, 105 + MARGIN + 1)


@pytest.mark.parametrize(
    ("own", "words", "allowance"),
    [
        (TimeControl("movetime", 250, 0), b"movetime 250", 250 + MARGIN),
        (TimeControl("depth", 0, 0, 3), b"depth 3", None),
        (TimeControl("nodes", 0, 0, 40), b"nodes 40", None),
    ],
)
def test_a_clock_against_something_else(own: TimeControl, words: bytes, allowance: float | None) -> None:
    running = GameClock(TimeControl("clock", 1000, 100), MARGIN, second=own)
    assert running.words(0) == b"p1time 1000 p2time 1000 p1inc 100 p2inc 100", (
        "an opponent without a clock has one's own"
    )
    assert (running.words(1), running.allowance_ms(1)) == (words, allowance)
    assert running.charge(1, 200)
    assert running.charge(1, 400) is (own.kind != "movetime")
    turned = GameClock(own, MARGIN, second=TimeControl("clock", 1000, 100))
    assert turned.words(1) == b"p1time 1000 p2time 1000 p1inc 100 p2inc 100"
    assert (turned.words(0), turned.allowance_ms(1)) == (words, 1000 + MARGIN)


def test_time_is_added_after_every_period_of_moves_of_a_side() -> None:
    running = GameClock(TimeControl("clock", 1000, 10, moves=2), MARGIN, second=TimeControl("clock", 500, 0))
    left = []
    for _ in range(4):
        assert running.charge(0, 300)
        left.append((running.left_ms[0], running.moves_to_go(0)))
    assert left == [(710, 1), (1420, 2), (1130, 1), (1840, 2)]
    assert running.words(1) == b"p1time 1840 p2time 500 p1inc 10 p2inc 0"
    assert running.moves_to_go(1) is None


def test_periods_may_have_an_odd_number_of_moves() -> None:
    found = GameClock(TimeControl("clock", 1000, 0, moves=3), MARGIN)
    left = []
    for _ in range(6):
        assert found.charge(1, 100)
        left.append((found.left_ms[1], found.moves_to_go(1)))
    assert left == [(900, 2), (800, 1), (1700, 3), (1600, 2), (1500, 1), (2400, 3)]
    assert found.moves_to_go(0) == 3


def test_a_flag_falls_before_the_period_brings_time() -> None:
    found = GameClock(TimeControl("clock", 1000, 0, moves=2), MARGIN)
    assert found.charge(0, 900)
    assert found.allowance_ms(0) == 100 + MARGIN
    assert not found.charge(0, 100 + MARGIN + 1)
    assert found.left_ms[0] == -MARGIN - 1
