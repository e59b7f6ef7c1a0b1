"""An evaluation fitted to positions: weights whose sum, through the logistic function, foretells results best.

Newton's method with a small ridge; what is held out is whole games, since positions of one game are alike. Plain numpy,
everything follows from the seed. Refuses to know files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from arena.laboratory.features import Matrix
from arena.laboratory.positions import Positions
from referee.rules.rules import Ruleset

BASIS = ("first to move", "first side", "static score")
"""What every evaluation has: who is to move, a constant, and the family's own static score in hundreds."""
MOST_SCORE = 3_000
"""Scores count up to here, in hundredths."""
SCALES = np.geomspace(20, 3_000, 60)
_ROUNDS = 30


@dataclass(frozen=True, slots=True)
class Measure:
    """How well chances foretell what happened: the mean log loss, and the share of the variance explained."""

    loss: float
    r2: float


@dataclass(frozen=True, slots=True)
class Fit:
    """Weights of `BASIS` and of the features after them, for the first side, in units of the logistic function."""

    weights: Matrix
    scale: float
    """The score in hundredths that stands for one such unit, a chance of 73 %."""
    measures: dict[str, Measure]
    """`train` and `held_out` of these weights; `static_held_out` of a fit that has `BASIS` alone."""


def chance(logit: Matrix) -> Matrix:
    """The logistic function."""
    found: Matrix = 1 / (1 + np.exp(-np.clip(logit, -40, 40)))
    return found


def measure(truth: Matrix, guess: Matrix) -> Measure:
    """How well guesses foretell the truth, both from 0 to 1."""
    kept = np.clip(guess, 1e-9, 1 - 1e-9)
    loss = -(truth * np.log(kept) + (1 - truth) * np.log(1 - kept)).mean()
    spread = ((truth - truth.mean()) ** 2).mean()
    return Measure(float(loss), float(1 - ((truth - guess) ** 2).mean() / spread) if spread else 0.0)


def newton(columns: Matrix, truth: Matrix, ridge: float) -> Matrix:
    """The weights of least log loss, with a penalty of `ridge` on the square of each as if its column had spread 1."""
    spread = columns.std(axis=0)
    unit = np.where(spread > 0, spread, 1)
    scaled = columns / unit
    weights = np.zeros(columns.shape[1])
    for _ in range(_ROUNDS):
        guess = chance(scaled @ weights)
        slope = scaled.T @ (guess - truth) + ridge * weights
        curve = (scaled * (guess * (1 - guess))[:, None]).T @ scaled + ridge * np.eye(len(weights))
        change = np.linalg.solve(curve, slope)
        weights = weights - change
        if np.abs(change).max() < 1e-8:
            break
    found: Matrix = weights / unit
    return found


def fit(
    ruleset: Ruleset,
    positions: Positions,
    games: Sequence[int],
    features: Matrix,
    *,
    trust: float,
    share: float,
    ridge: float,
    seed: int,
) -> Fit:
    """Weights for positions that are from these games. The truth is `trust` times the result, the rest the bot's score.

    A `share` of the games is held out. Raises ValueError where that leaves too few.
    """
    sign = np.where(positions.side == 0, 1.0, -1.0)
    evaluate = ruleset.rules.kernel.evaluate
    static = sign * np.clip(
        [int(evaluate(state, ruleset.config)) for state in positions.state], -MOST_SCORE, MOST_SCORE
    )
    score = sign * np.clip(positions.score, -MOST_SCORE, MOST_SCORE)
    result = (1 + sign * positions.result) / 2
    scale = float(min(SCALES, key=lambda one: measure(result, chance(score / one)).loss))
    truth = trust * result + (1 - trust) * chance(score / scale)
    known = np.unique(games)
    held_games = np.random.default_rng(seed).permutation(known)[: max(1, round(len(known) * share))]
    held = np.isin(games, held_games)
    if held.all() or len(known) < 4:
        raise ValueError(f"{len(known)} games are too few to learn from some and hold out others; make more positions")
    basis = np.column_stack([sign, np.ones(len(sign)), static / 100])
    columns = np.hstack([basis, features])
    weights, plain = (newton(some[~held], truth[~held], ridge) for some in (columns, basis))
    guess = chance(columns @ weights)
    return Fit(
        weights,
        scale,
        {
            "train": measure(truth[~held], guess[~held]),
            "held_out": measure(truth[held], guess[held]),
            "static_held_out": measure(truth[held], chance(basis[held] @ plain)),
        },
    )
