"""Results drawn by a model: strengths, what moving first is worth, and a matrix beside them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from referee.ratings.meetings import outcomes

Floats = NDArray[np.float64]
DRAW, FIRST = 0.2, 0.1
"""The chance of a draw between equals, and what moving first is worth (in theta)."""


def play(strengths: Floats, cyclic: Floats, games: int, rng: np.random.Generator) -> list[tuple[str, str, float]]:
    """A round robin of so many games a pairing, half of them from each side."""
    results: list[tuple[str, str, float]] = []
    for first, second in np.argwhere(~np.eye(len(strengths), dtype=bool)).tolist():
        chances = outcomes(np.array(strengths[first] - strengths[second] + FIRST + cyclic[first, second]), DRAW)
        counts = rng.multinomial(games // 2, chances)
        for points, count in zip((1.0, 0.5, 0.0), counts.tolist(), strict=True):
            results += [(f"bot {first}", f"bot {second}", points)] * count
    return results


def nothing(bots: int) -> Floats:
    """No cycle at all."""
    return np.zeros((bots, bots))


def trio(bots: int, edge: float) -> Floats:
    """Each of the first three beats the next by so much (in theta), the third the first."""
    found = nothing(bots)
    for one, two in ((0, 1), (1, 2), (2, 0)):
        found[one, two], found[two, one] = edge, -edge
    return found


def styles(bots: int, edge: float, rng: np.random.Generator) -> Floats:
    """Everybody has a style, an angle; a quarter turn ahead is worth `edge`."""
    angles = rng.uniform(0, 2 * np.pi, bots)
    return edge * np.sin(angles[None, :] - angles[:, None])
