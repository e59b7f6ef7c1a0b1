"""Intervals of shares: known figures, and how often they hold."""

from __future__ import annotations

import numpy as np
import pytest

from referee.ratings.interval import wilson


@pytest.mark.parametrize(
    ("points", "games", "low", "high"),
    [
        (0, 0, 0.0, 1.0),
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (15, 50, 0.1910, 0.4375),
        (50, 100, 0.4038, 0.5962),
    ],
)
def test_known_intervals(points: float, games: int, low: float, high: float) -> None:
    assert wilson(points, games) == pytest.approx((low, high), abs=1e-4)


def test_an_interval_holds_as_often_as_it_says() -> None:
    rng = np.random.default_rng(1)
    for share in (0.1, 0.4, 0.7):
        bounds = {points: wilson(points, 60) for points in range(61)}
        held = [bounds[int(won)][0] <= share <= bounds[int(won)][1] for won in rng.binomial(60, share, 4000)]
        assert 0.93 < np.mean(held) < 0.975
