"""Fits the win model of a family to engine scores and game results.

The model is a logistic curve on which a score of 0 means even chances. Its scale is fitted by maximum likelihood. A
draw counts as half a win and half a loss. Forced wins are left out: they are certain under every scale.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from arena.analysis.win_model import FORCED_WIN

MIN_POSITIONS = 200
"""Minimum number of positions for a fit."""
SEARCH_STEPS = 60


class TooFewPositionsError(ValueError):
    """Not enough positions to fit a win model."""


@dataclass(frozen=True, slots=True)
class WinModelFit:
    """A fitted scale in centipawns, the number of positions, and the mean log loss in nats (ln 2: no information)."""

    scale: float
    positions: int
    log_loss: float


def fit(seen: Sequence[tuple[int, float]]) -> WinModelFit:
    """Fit a scale to (score, points) pairs from the view of the side to move; points are 1, ½ or 0. Raises
    TooFewPositionsError.
    """
    kept = [(score, points) for score, points in seen if abs(score) < FORCED_WIN]
    if len(kept) < MIN_POSITIONS:
        raise TooFewPositionsError(
            f"{len(kept)} positions without a forced win; at least {MIN_POSITIONS} are needed: analyse more games"
        )
    scores = np.array([score for score, _ in kept], dtype=np.float64)
    points = np.array([one for _, one in kept], dtype=np.float64)

    def loss(scale: float) -> float:
        odds = scores / scale
        return float(np.mean(np.logaddexp(0.0, -odds) * points + np.logaddexp(0.0, odds) * (1 - points)))

    # The loss is convex in 1 / scale, so a ternary search finds its minimum.
    low, high = 1 / 5_000, 1 / 10
    for _ in range(SEARCH_STEPS):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        if loss(1 / left) < loss(1 / right):
            high = right
        else:
            low = left
    scale = round(2 / (low + high), 1)
    found = loss(scale)
    assert math.isfinite(found)
    return WinModelFit(scale, len(kept), round(found, 4))
