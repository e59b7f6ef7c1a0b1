"""Scores as winning chances: a logistic curve for each family, fitted from games and kept with where it comes from.

Refuses to know who gave the score.
"""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from referee.score import WIN_SCORE

SURE = WIN_SCORE - 1_000
"""A score from here on is a forced win, see `referee.score`."""
USUAL_SCALE = 250.0
"""For a family nobody has fitted a curve for: a piece and a half ahead wins three games in four."""


@dataclass(frozen=True, slots=True)
class WinModel:
    """`scale` is in hundredths: a score of so many makes odds of e to 1. `version` says which fit it is."""

    scale: float = USUAL_SCALE
    version: str = "usual"

    def winning_chances(self, score: int) -> float:
        """From -1 (lost) to 1 (won) for the side whose score it is; a forced win is 1, a forced loss -1."""
        if abs(score) >= SURE:
            return math.copysign(1.0, score)
        return math.tanh(score / (2 * self.scale))


@cache
def _shipped() -> dict[str, WinModel]:
    data = tomllib.loads(files(__package__).joinpath("win_models.toml").read_text(encoding="utf-8"))
    return {
        name: WinModel(one["scale"], f"shipped {data['version']}") for name, one in data.get("families", {}).items()
    }


def shipped(family: str) -> WinModel:
    """The curve that comes with the arena (`win_models.toml` says what it was made from), or the usual one."""
    return _shipped().get(family, WinModel())
