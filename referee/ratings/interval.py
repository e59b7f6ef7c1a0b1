"""Confidence intervals of a score by Wilson's method: within 0…1, and suited to few games and extreme results."""

from __future__ import annotations

from math import log10, sqrt

Z95 = 1.959963984540054
"""Standard deviations on either side of the mean that contain 95 %."""


def wilson(points: float, games: float, z: float = Z95) -> tuple[float, float]:
    """Return the bounds of the confidence interval of the true score (Wilson 1927); 0 and 1 without games.

    A draw counts as half a win and half a loss, which makes the interval too wide rather than too narrow.
    """
    if not games:
        return 0.0, 1.0
    share, square = points / games, z * z / games
    middle = share + square / 2
    half = z * sqrt(share * (1 - share) / games + square / (4 * games))
    return max(0.0, (middle - half) / (1 + square)), min(1.0, (middle + half) / (1 + square))


def elo_of(share: float) -> float:
    """Return the Elo difference at which the score `share` is expected, bounded at odds of a million to one."""
    bounded = min(max(share, 1e-6), 1 - 1e-6)
    return -400 * log10(1 / bounded - 1) + 0.0  # even is 0, not -0
