"""Intervals of a share of points: Wilson's, which keeps to 0…1 and holds for few games and for extreme results."""

from __future__ import annotations

from math import log10, sqrt

Z95 = 1.959963984540054
"""Standard deviations on either side of the middle that 95 % lie within."""


def wilson(points: float, games: float, z: float = Z95) -> tuple[float, float]:
    """Low and high of the true share of points (Wilson 1927). A drawn game counts as half a win and half a loss, which
    makes the interval too wide rather than too narrow. Without games it is everything."""
    if not games:
        return 0.0, 1.0
    share, square = points / games, z * z / games
    middle = share + square / 2
    half = z * sqrt(share * (1 - share) / games + square / (4 * games))
    return max(0.0, (middle - half) / (1 + square)), min(1.0, (middle + half) / (1 + square))


def elo_of(share: float) -> float:
    """The difference in Elo points at which such a share of points is expected; bounded at a 1,000,000 to 1."""
    bounded = min(max(share, 1e-6), 1 - 1e-6)
    return -400 * log10(1 / bounded - 1) + 0.0  # even is 0, not -0
