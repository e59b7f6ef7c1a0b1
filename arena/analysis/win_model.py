"""Win models: a logistic curve per family that converts scores to winning chances, with its provenance."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

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
