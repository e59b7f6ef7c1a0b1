"""Fit the weights of a family's linear features (`referee.rules.kernel_protocol.LinearFeatures`) to games.

Logistic regression: the sum of the weights predicts whether the side to move wins. It starts from the kernel's prior
weights, which rare features keep. Tied features share one weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from bots.search.net import HIDDEN
from bots.training.positions import (
    DECIDED_SCORE,
    MAX_SCORE,
    FitResult,
    Floats,
    TrainingPositions,
    expected_results,
    fit_scale,
    has_features,
    log_loss,
    logistic,
    split_validation,
)
from referee.rules.kernel_protocol import LinearFeatures
from referee.rules.rules import Ruleset


class Adam:
    """The state of a minimisation. Its steps change the arrays in place."""

    def __init__(self, *arrays: Floats) -> None:
        self._arrays, self._time = arrays, 0
        self._first = [np.zeros_like(array) for array in arrays]
        self._second = [np.zeros_like(array) for array in arrays]

    def step(self, gradients: Sequence[Floats], rate: float) -> None:
        """Take one step against the gradients, one for each array."""
        self._time += 1
        for array, gradient, first, second in zip(self._arrays, gradients, self._first, self._second, strict=True):
            first += np.float32(0.1) * (gradient - first)
            second += np.float32(0.001) * (gradient * gradient - second)
            up = first / np.float32(1 - 0.9**self._time)
            down = np.sqrt(second / np.float32(1 - 0.999**self._time)) + np.float32(1e-8)
            array -= np.float32(rate) * (up / down)


WEIGHT_SCALE = 16
"""Integer weight of one centipawn."""
BATCH_SIZE = 4096
LEARNING_RATE = 5e-3
PRIOR_STRENGTH = 3e-3
"""Penalty on the squared distance of a weight from its prior."""


@dataclass(frozen=True, slots=True)
class ActiveFeatures:
    """Features of the positions in which the side to move cannot win in one move."""

    rows: npt.NDArray[np.int64]
    """Numbers of these positions."""
    features: npt.NDArray[np.int32]
    """[position, ...]: the representative of each active feature; unused entries are LINEAR_FEATURE_COUNT, whose weight
    is 0.
    """


def linear_features_of(ruleset: Ruleset) -> LinearFeatures:
    """Return the kernel as `LinearFeatures`. Raises ValueError if it has no linear features for these rules."""
    rules = ruleset.rules
    if not hasattr(rules.kernel, "linear_features") or not has_features(ruleset):
        raise ValueError(
            f"the kernel of {rules.family} has no linear features for these rules: implement `LinearFeatures`"
        )
    return cast(LinearFeatures, rules.kernel)


def active_features(ruleset: Ruleset, states: npt.NDArray[Any]) -> ActiveFeatures:
    """Compute the features of some positions."""
    kernel = linear_features_of(ruleset)
    buffer = np.zeros(kernel.MAX_LINEAR_FEATURES, dtype=np.int64)
    active = np.full((len(states), kernel.MAX_LINEAR_FEATURES), kernel.LINEAR_FEATURE_COUNT, dtype=np.int32)
    counts = np.zeros(len(states), dtype=np.int64)
    for row, state in enumerate(states):
        counts[row] = count = kernel.linear_features(state, ruleset.config, buffer)
        active[row, : max(count, 0)] = kernel.TIED_FEATURES[buffer[: max(count, 0)]]
    rows = np.flatnonzero(counts >= 0)
    return ActiveFeatures(rows, active[rows])


def train(features: npt.NDArray[np.int32], truth: Floats, *, prior: Floats, epochs: int, seed: int) -> Floats:
    """Fit weights to positions with these features and their expected results.

    `prior` holds the start values; its last element is the weight of unused entries.
    """
    rng, weights = np.random.default_rng(seed), prior.copy()
    adam, steps = Adam(weights), max(1, len(features) // BATCH_SIZE)
    for epoch in range(epochs):
        order = rng.permutation(len(features))
        for number in range(steps):
            some = order[number * BATCH_SIZE : (number + 1) * BATCH_SIZE]
            here = features[some]
            error = np.repeat(logistic(weights[here].sum(axis=1)) - truth[some], here.shape[1])
            gradient = np.bincount(here.ravel(), error, minlength=len(weights)).astype(np.float32) / np.float32(
                len(some)
            )
            gradient += np.float32(PRIOR_STRENGTH) * (weights - prior)
            gradient[-1] = 0
            rate = LEARNING_RATE * (1 - (epoch + number / steps) / epochs) + LEARNING_RATE / 100
            adam.step([gradient], rate)
    return weights


def predict(features: npt.NDArray[np.int32], weights: Floats) -> Floats:
    """Return the winning probabilities of positions with these features."""
    return logistic(weights[features].sum(axis=1))


def quantise(kernel: LinearFeatures, weights: Floats, scale: float) -> npt.NDArray[np.int32]:
    """Round the weights of the features to integers in rows of HIDDEN; the last row is padded with zeros."""
    whole = np.round(weights[kernel.TIED_FEATURES] * scale * WEIGHT_SCALE).astype(np.int32)
    return np.append(whole, np.zeros(-len(whole) % HIDDEN, dtype=np.int32)).reshape(-1, HIDDEN)


def fit_linear(
    ruleset: Ruleset, data: TrainingPositions, *, result_weight: float, epochs: int, validation_split: float, seed: int
) -> FitResult:
    """Fit the weights of linear features; a share `validation_split` of the games is held out.

    The target is the mean of the result (weight `result_weight`) and the search score. Raises ValueError if the
    kernel has no linear features or there are too few games.
    """
    kernel = linear_features_of(ruleset)
    data = data.take(np.abs(data.static) < DECIDED_SCORE)
    active = active_features(ruleset, data.state)
    data, features = data.take(active.rows), active.features
    held = split_validation(data, validation_split, np.random.default_rng(seed))
    result = np.asarray((1 + data.result) / 2, dtype=np.float32)
    truth = np.asarray(
        result_weight * result + (1 - result_weight) * expected_results(data, result, None), dtype=np.float32
    )
    plain = np.clip(data.static, -MAX_SCORE, MAX_SCORE).astype(np.float32)
    scale, _ = fit_scale(plain, result, None)
    prior = np.append(kernel.PRIOR_WEIGHTS[kernel.TIED_FEATURES] / scale, 0).astype(np.float32)
    weights = train(features[~held], truth[~held], prior=prior, epochs=epochs, seed=seed)
    before, after = logistic(plain[held] / np.float32(scale)), predict(features[held], weights)
    whole = quantise(kernel, weights, scale)
    return FitResult(whole, scale, log_loss(truth[held], before), log_loss(truth[held], after), data.state[held])
