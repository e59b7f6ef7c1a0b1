"""Fit the champion's net to positions of games.

The net corrects the static score. It is fitted to predict a target: the weighted mean of the game's result and the
score of a search. Symmetric images of positions augment the data. Whole games are held out for validation. Plain numpy.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bots.search.net import (
    ACTIVATION_ONE,
    BIAS,
    FIRST_ROW,
    HEAD,
    HEAD_SCALE,
    HIDDEN,
    board_plane_count,
    direction_count,
    feature_count,
    plane_count,
)
from bots.training.linear_fit import Adam
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
    score_logits,
    split_validation,
)
from referee.rules.rules import FeatureImage, Features, Ruleset

Rows = npt.NDArray[np.int64]

BATCH_SIZE = 1024
LEARNING_RATE = 2e-3
WEIGHT_DECAY = 1e-6


def active_features(features: Features, states: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return which features each position has, shape [position, feature]."""
    active = np.zeros((len(states), feature_count(features)), dtype=np.bool_)
    for element, plane, cells in features.boards:
        words = states[:, element].astype(np.uint64)
        for bit, cell in enumerate(cells):
            if cell >= 0:
                active[:, plane * features.cells + cell] |= (words >> np.uint64(bit)) & np.uint64(1) != 0
    every, ways, first = np.arange(len(states)), direction_count(features), plane_count(features) * features.cells
    if ways:
        seen_from = states[:, features.seen_from].astype(np.int64)
        directions = np.array(features.directions)
        for plane in range(board_plane_count(features)):
            for cell in range(features.cells):
                there = active[:, plane * features.cells + cell]
                active[every[there], first + plane * ways + directions[seen_from[there], cell]] = True
    for element, plane, shift in features.places:
        at = states[:, element].astype(np.int64) - shift
        there = at >= 0
        active[every[there], plane * features.cells + at[there]] = True
    first += board_plane_count(features) * ways
    for element, most in features.counts:
        active[every, first + np.clip(states[:, element].astype(np.int64), 0, most)] = True
        first += most + 1
    return active


def feature_images(features: Features, ruleset: Ruleset) -> list[tuple[npt.NDArray[np.int64], int]]:
    """Return the symmetries of a position, each as a permutation of features, with 1 if it swaps sides, else 0."""
    symmetry, every = ruleset.rules.symmetry, tuple(range(plane_count(features)))
    counts = tuple(range(len(features.counts)))
    images = [(np.arange(feature_count(features)), 0)]
    steps = list(features.images)
    for image in symmetry.images(ruleset.config) if symmetry is not None else ():
        if image.symbols == tuple(range(len(image.symbols))) and len(image.cells) == features.cells:
            steps.append(FeatureImage(planes=every, cells=image.cells))
    orders = [
        (_feature_order(features, replace(step, counts=step.counts or counts)), int(step.changes_sides))
        for step in steps
    ]
    known = {images[0][0].tobytes()}
    for before, sides in images:  # grows during the loop: images of images are images
        for order, changes in orders:
            if (both := before[order]).tobytes() not in known:
                known.add(both.tobytes())
                images.append((both, sides ^ changes))
    return images


def _feature_order(features: Features, image: FeatureImage) -> npt.NDArray[np.int64]:
    """Return the permutation of features that belongs to a symmetric image of the board."""
    cells = np.array(image.cells or range(features.cells))
    blocks = [plane * features.cells + cells for plane in image.planes]
    ways, first = direction_count(features), len(image.planes) * features.cells
    if ways:
        directions = np.array(features.directions)
        turned = np.zeros(ways, dtype=np.int64)
        turned[directions] = directions[np.ix_(cells, cells)]
        blocks += [first + plane * ways + turned for plane in image.planes[: board_plane_count(features)]]
    sizes = [most + 1 for _, most in features.counts]
    firsts = np.cumsum([first + board_plane_count(features) * ways, *sizes])
    blocks += [firsts[count] + np.arange(sizes[count]) for count in image.counts]
    return np.concatenate(blocks)


class _Net:
    """The net in floating point, with the layers of `bots.search.net`, and the positions to fit it to.

    `here` says which features each position has; `second` is 1 where the second side is to move.
    """

    def __init__(self, here: npt.NDArray[np.bool_], second: npt.NDArray[np.int64], base: Floats, rng: Any) -> None:
        self.here, self.second, self.base = here, second, base
        self.sign = np.where(second == 1, np.float32(-1), np.float32(1))
        self.rows = rng.normal(0, 0.15, (here.shape[1], HIDDEN)).astype(np.float32)
        self.bias = np.full(HIDDEN, 0.3, dtype=np.float32)
        self.heads = rng.normal(0, 0.02, (2, HIDDEN)).astype(np.float32)
        self._adam = Adam(self.rows, self.bias, self.heads)

    def predict(self, some: Rows) -> Floats:
        """Return the winning probabilities of these positions."""
        units = np.clip(self.here[some].astype(np.float32) @ self.rows + self.bias, 0, 1)
        return logistic(self.base[some] + (units * self.heads[self.second[some]]).sum(axis=1) * self.sign[some])

    def train(self, some: Rows, image: tuple[npt.NDArray[np.int64], int], truth: Floats, rate: float) -> None:
        """Take one gradient step towards the targets of these positions, in one of their symmetric images."""
        order, changes = image
        x = self.here[some].astype(np.float32)[:, order]
        sums = x @ self.rows + self.bias
        units, second, sign = np.clip(sums, 0, 1), self.second[some] ^ changes, self.sign[some] * (1 - 2 * changes)
        own = self.heads[second]
        off = (logistic(self.base[some] + (units * own).sum(axis=1) * sign) - truth) / np.float32(len(some)) * sign
        back = off[:, None] * own * ((sums > 0) & (sums < 1))
        on_heads = np.stack([(off[:, None] * units)[second == head].sum(axis=0) for head in (0, 1)])
        self._adam.step([x.T @ back + np.float32(WEIGHT_DECAY) * self.rows, back.sum(axis=0), on_heads], rate)

    def weights(self, scale: float) -> npt.NDArray[np.int32]:
        """Return the weights as integers."""
        found = np.zeros((FIRST_ROW + len(self.rows), HIDDEN), dtype=np.int32)
        found[BIAS] = np.round(self.bias * ACTIVATION_ONE)
        found[HEAD : HEAD + 2] = np.round(self.heads * scale * HEAD_SCALE)
        found[FIRST_ROW:] = np.round(self.rows * ACTIVATION_ONE)
        return found


def fit_net(
    ruleset: Ruleset,
    data: TrainingPositions,
    *,
    result_weight: float,
    epochs: int,
    validation_split: float,
    seed: int,
    by_score: bool = False,
) -> FitResult:
    """Fit a net to positions; a share `validation_split` of the games is held out.

    The target is the mean of the result (weight `result_weight`) and the search score. A scale fitted to the
    static scores converts them to probabilities. With `by_score` it is fitted to the search scores of each folder
    instead; then the net learns neither to rescale the static score nor to recognise the variant of a position.
    Raises ValueError if the family has no features for the board, or if there are too few games.
    """
    rules, rng = ruleset.rules, np.random.default_rng(seed)
    features = rules.features
    if features is None or not has_features(ruleset):
        raise ValueError(f"the rules of {rules.family} have no features for this board: define `Rules.features`")
    data = data.take(np.abs(data.static) < DECIDED_SCORE)
    held = split_validation(data, validation_split, rng)
    element, bit = features.mover
    second = (data.state[:, element].astype(np.int64) & bit != 0).astype(np.int64)
    images = feature_images(features, ruleset)
    sides = None if any(changes for _, changes in images) else np.where(second == 1, 1, -1).astype(np.float32)
    result = np.asarray((1 + data.result) / 2, dtype=np.float32)
    truth = result_weight * result + (1 - result_weight) * expected_results(data, result, sides)
    plain = np.clip(data.static, -MAX_SCORE, MAX_SCORE).astype(np.float32)
    scale, offset = fit_scale(plain, result, sides)
    base = plain / np.float32(scale)
    before = base if sides is None else base + sides * np.float32(offset / scale)
    if by_score:
        scale, _ = fit_scale(np.clip(data.score, -MAX_SCORE, MAX_SCORE).astype(np.float32), result, sides)
        base = before = score_logits(data, plain, result, sides)
    net, training = _Net(active_features(features, data.state), second, base, rng), np.flatnonzero(~held)
    steps = max(1, len(training) // BATCH_SIZE)
    for epoch in range(epochs):
        order = rng.permutation(training)
        for number in range(steps):
            some = order[number * BATCH_SIZE : (number + 1) * BATCH_SIZE]
            rate = LEARNING_RATE * (1 - (epoch + number / steps) / epochs) + LEARNING_RATE / 100
            net.train(some, images[rng.integers(len(images))], truth[some], rate)
    after = net.predict(np.flatnonzero(held))
    return FitResult(
        net.weights(scale),
        scale,
        log_loss(truth[held], logistic(before[held])),
        log_loss(truth[held], after),
        data.state[held],
    )
