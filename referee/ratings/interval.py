"""Confidence intervals of a score by Wilson's method: within 0…1, and suited to few games and extreme results."""

from __future__ import annotations

from math import sqrt

Z95 = 1.959963984540054
"""Standard deviations on either side of the mean that contain 95 %."""


def wilson(points: float, games: float) -> tuple[float, float]:
    """Return the bounds of the confidence interval of the true score (Wilson 1927); 0 and 1 without games.

    A draw counts as half a win and half a loss, which makes the interval too wide rather than too narrow.
    """
    if not games:
        return 0.0, 1.0
    share, square = points / games, Z95 * Z95 / games
    middle = share + square / 2
    half = Z95 * sqrt(share * (1 - share) / games + square / (4 * games))
    return max(0.0, (middle - half) / (1 + square)), min(1.0, (middle + half) / (1 + square))
