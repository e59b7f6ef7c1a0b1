"""The curve of a family from games: scores that an engine gave, and how the games ended.

One number is fitted, the scale of a logistic curve through the even game, by maximum likelihood; a draw counts as half
a win and half a loss. Forced wins are left out: they are certain whatever the curve.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from arena.analysis.win_model import SURE

LEAST = 200
"""Fewer positions make no curve."""
STEPS = 60


class TooFewError(ValueError):
    """Not enough positions for a curve."""


@dataclass(frozen=True, slots=True)
class Fit:
    """A fitted scale in hundredths, from how many positions, and the mean loss in nats (ln 2 = knows nothing)."""

    scale: float
    positions: int
    log_loss: float


def fit(seen: Sequence[tuple[int, float]]) -> Fit:
    """From (score, points) of positions, both of the side to move; points are 1, ½ or 0. Raises TooFewError."""
    kept = [(score, points) for score, points in seen if abs(score) < SURE]
    if len(kept) < LEAST:
        raise TooFewError(f"{len(kept)} positions without a forced win; a curve needs {LEAST}: analyse more games")
    scores = np.array([score for score, _ in kept], dtype=np.float64)
    points = np.array([one for _, one in kept], dtype=np.float64)

    def loss(scale: float) -> float:
        odds = scores / scale
        return float(np.mean(np.logaddexp(0.0, -odds) * points + np.logaddexp(0.0, odds) * (1 - points)))

    # Convex in 1 / scale, so that a search by thirds in it finds the minimum.
    low, high = 1 / 5_000, 1 / 10
    for _ in range(STEPS):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        if loss(1 / left) < loss(1 / right):
            high = right
        else:
            low = left
    scale = round(2 / (low + high), 1)
    found = loss(scale)
    assert math.isfinite(found)
    return Fit(scale, len(kept), round(found, 4))
