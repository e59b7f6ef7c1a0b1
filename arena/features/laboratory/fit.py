"""Fit a linear evaluation to positions by logistic regression (Texel tuning): Newton's method with an L2 penalty.

Features are by default piece-square counts, in which symmetric squares are counted together. Whole games are held out
for validation, because positions of one game are alike. Plain numpy, reproducible from the seed.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from arena.features.laboratory.parameter import LaboratoryError
from arena.features.laboratory.positions import Positions
from referee.rules.rules import Ruleset

Matrix: TypeAlias = npt.NDArray[np.float64]
Features: TypeAlias = Callable[[Ruleset, npt.NDArray[Any]], tuple[list[str], Matrix]]
"""Function of rules and states (one a row) to the names of the features and a matrix [state, feature]."""
DEFAULT = "arena.features.laboratory.fit:piece_squares"


def piece_squares(ruleset: Ruleset, states: npt.NDArray[Any]) -> tuple[list[str], Matrix]:
    """Count each symbol on each class of symmetric cells. Raises LaboratoryError for rules without symmetries."""
    symmetry = ruleset.rules.symmetry
    if symmetry is None:
        raise LaboratoryError(
            f"the rules of {ruleset.rules.family} define no symmetry", hint="give --features MODULE:FUNCTION"
        )
    images = symmetry.images(ruleset.config)
    contents = symmetry.contents(states, ruleset.config)
    groups: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for cell in range(len(images[0].cells)):
        for symbol in range(1, len(images[0].symbols)):
            alike = min((image.cells[cell], image.symbols[symbol]) for image in images)
            groups.setdefault(alike, []).append((cell, symbol))
    names = [f"symbol {symbol} like cell {cell}" for cell, symbol in groups]
    counts = np.zeros((len(states), len(groups)))
    for column, places in enumerate(groups.values()):
        for cell, symbol in places:
            counts[:, column] += contents[:, cell] == symbol
    return names, counts


def read_features(text: str) -> Features:
    """Import the function named `MODULE:FUNCTION`. Raises LaboratoryError."""
    module, _, name = text.partition(":")
    try:
        found: Features = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise LaboratoryError(f"invalid --features {text!r}: {error}", hint="expected MODULE:FUNCTION") from None
    return found


BASIS = ("first to move", "first side", "static score")
"""Features of every evaluation: side to move, a constant, and the family's static score in units of 100 centipawns."""
MAX_SCORE = 3_000
"""Scores are clipped to this, in centipawns."""
SCALES = np.geomspace(20, 3_000, 60)
_ROUNDS = 30


@dataclass(frozen=True, slots=True)
class Measure:
    """Quality of predictions: the mean log loss, and the share of the variance explained."""

    loss: float
    r2: float


@dataclass(frozen=True, slots=True)
class EvaluationFit:
    """Weights of the terms in `BASIS`, then of the features.

    The weighted sum is the logit of the expected points of the first side (0 to 1).
    """

    weights: Matrix
    scale: float
    """Score in centipawns of a logit of 1, a winning probability of 73 %."""
    measures: dict[str, Measure]
    """Measures `train` and `held_out` of these weights, and `static_held_out` of a fit of `BASIS` alone."""


def logistic(logit: Matrix) -> Matrix:
    found: Matrix = 1 / (1 + np.exp(-np.clip(logit, -40, 40)))
    return found


def measure(truth: Matrix, guess: Matrix) -> Measure:
    """Measure how well `guess` predicts `truth`; the values of both are from 0 to 1."""
    kept = np.clip(guess, 1e-9, 1 - 1e-9)
    loss = -(truth * np.log(kept) + (1 - truth) * np.log(1 - kept)).mean()
    spread = ((truth - truth.mean()) ** 2).mean()
    return Measure(float(loss), float(1 - ((truth - guess) ** 2).mean() / spread) if spread else 0.0)


def newton(columns: Matrix, truth: Matrix, l2: float) -> Matrix:
    """Return the weights that minimise the log loss with an L2 penalty `l2` on columns scaled to unit deviation."""
    spread = columns.std(axis=0)
    unit = np.where(spread > 0, spread, 1)
    scaled = columns / unit
    weights = np.zeros(columns.shape[1])
    for _ in range(_ROUNDS):
        guess = logistic(scaled @ weights)
        slope = scaled.T @ (guess - truth) + l2 * weights
        curve = (scaled * (guess * (1 - guess))[:, None]).T @ scaled + l2 * np.eye(len(weights))
        change = np.linalg.solve(curve, slope)
        weights = weights - change
        if np.abs(change).max() < 1e-8:
            break
    unscaled: Matrix = weights / unit
    return unscaled


def fit(
    ruleset: Ruleset,
    positions: Positions,
    games: Sequence[int],
    features: Matrix,
    *,
    result_weight: float,
    validation_split: float,
    l2: float,
    seed: int,
) -> EvaluationFit:
    """Fit weights to positions; `games` has, for each position, the number of its game.

    The target is a weighted mean: the game's result counts `result_weight`, the bot's score the rest. A share
    `validation_split` of the games is held out. Raises ValueError if that leaves too few games.
    """
    sign = np.where(positions.side == 0, 1.0, -1.0)
    evaluate = ruleset.rules.kernel.evaluate
    static = sign * np.clip([int(evaluate(state, ruleset.config)) for state in positions.state], -MAX_SCORE, MAX_SCORE)
    score = sign * np.clip(positions.score, -MAX_SCORE, MAX_SCORE)
    result = (1 + sign * positions.result) / 2
    scale = float(min(SCALES, key=lambda candidate: measure(result, logistic(score / candidate)).loss))
    truth = result_weight * result + (1 - result_weight) * logistic(score / scale)
    known = np.unique(games)
    held_games = np.random.default_rng(seed).permutation(known)[: max(1, round(len(known) * validation_split))]
    held = np.isin(games, held_games)
    if held.all() or len(known) < 4:
        raise ValueError(f"{len(known)} games are too few for training and validation; make more positions")
    basis = np.column_stack([sign, np.ones(len(sign)), static / 100])
    columns = np.hstack([basis, features])
    weights, plain = (newton(some[~held], truth[~held], l2) for some in (columns, basis))
    guess = logistic(columns @ weights)
    return EvaluationFit(
        weights,
        scale,
        {
            "train": measure(truth[~held], guess[~held]),
            "held_out": measure(truth[held], guess[held]),
            "static_held_out": measure(truth[held], logistic(basis[held] @ plain)),
        },
    )
