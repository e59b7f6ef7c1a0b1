"""Moments as pages write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from arena.pages import filters
from arena.pages.filters import when


@pytest.mark.parametrize(
    ("ahead", "text"),
    [
        (timedelta(0), "0 s ago"),
        (-timedelta(seconds=90), "1 min ago"),
        (-timedelta(hours=5), "5 h ago"),
        (timedelta(hours=2, minutes=1), "in 2 h"),
    ],
)
def test_when_within_a_day_is_relative(ahead: timedelta, text: str) -> None:
    assert re.search(">(.*)<", when(datetime.now(UTC) + ahead))[1] == text  # type: ignore[index]


def test_when_beyond_a_day_is_a_date_that_the_script_makes_local() -> None:
    shown = when(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))
    assert "data-absolute>2026-01-02 03:04<" in shown
    assert 'datetime="2026-01-02T03:04:05+00:00"' in shown


def test_an_elo_from_few_games_is_left_out() -> None:
    assert filters.elo_interval(507.0, 2916.0) == "too few games"
    assert filters.elo_interval(1356.0, 500.0) == "> +856"
    assert filters.elo_interval(-12.0, 30.0) == "−12 ± 30"
