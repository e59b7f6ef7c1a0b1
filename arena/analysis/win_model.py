"""Win models: a logistic curve per family that converts scores to winning chances, with its provenance.

A model is fitted to engine scores and game results. A score of 0 means even chances. The scale is fitted by maximum
likelihood. A draw counts as half a win and half a loss. Forced wins are left out: they are certain under every scale.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from referee.game.score import WIN_SCORE

FORCED_WIN = WIN_SCORE - 1_000
"""Scores from here on are forced wins, see `referee.game.score`."""
DEFAULT_SCALE = 250.0
"""Scale for a family without a fitted model: an advantage of 1½ pieces wins about two games in three."""


@dataclass(frozen=True, slots=True)
class WinModel:
    """A win model. `scale` is in centipawns: a score equal to it means odds of e to 1. `version` names the fit."""

    scale: float = DEFAULT_SCALE
    version: str = "usual"

    def winning_chances(self, score: int) -> float:
        """Return the winning chances of the side with this score, from -1 (lost) to 1 (won). Forced wins and losses are
        exactly ±1.
        """
        if abs(score) >= FORCED_WIN:
            return math.copysign(1.0, score)
        return math.tanh(score / (2 * self.scale))


@cache
def _shipped() -> dict[str, WinModel]:
    data = tomllib.loads(files(__package__).joinpath("win_models.toml").read_text(encoding="utf-8"))
    return {
        name: WinModel(one["scale"], f"shipped {data['version']}") for name, one in data.get("families", {}).items()
    }


def shipped(family: str) -> WinModel:
    """Return the shipped model of a family, or else the default model. `win_models.toml` documents the data."""
    return _shipped().get(family, WinModel())


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
    points = np.array([result for _, result in kept], dtype=np.float64)

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
    log_loss = loss(scale)
    assert math.isfinite(log_loss)
    return WinModelFit(scale, len(kept), round(log_loss, 4))
