"""How fast a bot plays is found by asking: modelled bots, no process and no clock."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from referee.check.timing import MOVE_TIMES_MS, Timing, find_timing

LADDERS = [(*(ms for ms in MOVE_TIMES_MS if ms < most), most) for most in (2700, 3000, 5000, 15_000, 60_000)]


class Asked:
    """A bot that takes what `took(told, number of the answer)` says."""

    def __init__(self, took: Callable[[int, int], float]) -> None:
        self.took = took
        self.told: list[int] = []
        self.total_ms = 0.0

    def __call__(self, told_ms: int, patience_ms: float) -> float:
        took_ms = self.took(told_ms, len(self.told))
        self.told.append(told_ms)
        self.total_ms += min(took_ms, patience_ms)
        if took_ms > patience_ms:
            raise TimeoutError
        return took_ms


@pytest.mark.parametrize(
    ("took", "fit_from_ms", "overshoot_ms", "first_ms"),
    [
        (lambda told, number: told, 50, 0, 0),
        (lambda told, number: 3, 50, 0, 0),
        (lambda told, number: told + 8, 50, 8, 0),
        (lambda told, number: told + 60, 100, 60, 0),
        (lambda told, number: told + 300, 1000, 300, 0),
        (lambda told, number: 900, 1000, 0, 850),
        (lambda told, number: 1300, 1450, 0, 1250),
        (lambda told, number: 4200, 4650, 0, 4150),
        (lambda told, number: 14_000, 15_000, 0, 13_950),
        (lambda told, number: told + (800 if number == 0 else 2), 50, 2, 800),
        (lambda told, number: told + (400 if number == 3 else 2), 50, 2, 0),
        (lambda told, number: told + (400 if number in (3, 12) else 2), 50, 400, 0),
    ],
)
def test_the_shortest_move_time_kept(
    took: Callable[[int, int], float], fit_from_ms: int, overshoot_ms: int, first_ms: int
) -> None:
    asked = Asked(took)
    found = find_timing(asked)
    assert (found.fit_from_ms, found.overshoot_ms, found.first_overshoot_ms) == (fit_from_ms, overshoot_ms, first_ms)
    assert asked.total_ms <= 90_000


def test_a_bot_that_keeps_none_says_how_long_it_takes() -> None:
    with pytest.raises(TimeoutError):
        find_timing(Asked(lambda told, number: 15_021))
    found = find_timing(Asked(lambda told, number: 5021), (5000,))
    assert (found.fit_from_ms, found.least_ms) == (None, 5021)


@pytest.mark.parametrize("least_ms", range(100, 15_001, 700))
def test_the_whole_is_bounded_however_slow_the_bot(least_ms: int) -> None:
    asked = Asked(lambda told, number: least_ms)
    found = find_timing(asked)
    assert found.fit_from_ms
    assert least_ms - 20 <= found.fit_from_ms <= 1.1 * least_ms + 50
    assert asked.total_ms <= 90_000


@pytest.mark.parametrize("took_ms", [3, 130, 900, 1300, 2400])
def test_find_whatever_the_longest_time_gives_the_same_pace(took_ms: int) -> None:
    paces = {find_timing(Asked(lambda told, number: took_ms), times).fit_from_ms for times in LADDERS}
    assert len(paces) == 1, paces


def test_most_answers_decide() -> None:
    late: Iterator[bool] = iter([False, True, False, True, False, True, False, False])
    found = find_timing(Asked(lambda told, number: told + (100 if next(late, False) else 0)), (200,))
    assert found.fit_from_ms == 200
    found = find_timing(Asked(lambda told, number: 230 if number % 2 else 200), (200,))
    assert found.fit_from_ms is None


def test_quantiles_leave_the_slowest_out() -> None:
    assert Timing().quantile(0.95) == 0
    assert Timing(late_ms=[9.5]).quantile(0.5) == 10
    assert Timing(late_ms=[1, 2, 300]).quantile(0.95) == 300
    assert Timing(late_ms=[1, 2, 3, 300]).quantile(0.95) == 3
    assert Timing(late_ms=[float(ms) for ms in range(100)]).quantile(0.95) == 94
    assert Timing(late_ms=[-20.0] * 5).quantile(0.5) == 0
