"""What the traits of a family are worth (`referee.rules.rules.LinearFeatures`), fitted to games.

A logistic fit: their sum foretells the chance that the side to move wins. It begins with what the kernel guesses,
which traits that are rarely seen keep; those that are alike share what they are worth. Refuses to know files and
commands: see `bots.training`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from bots.search.net import HIDDEN
from bots.training.positions import (
    DECIDED,
    MOST_SCORE,
    Fitted,
    Floats,
    Sample,
    chance,
    foretold,
    held_out,
    is_told,
    loss,
    meaning,
)
from referee.rules.rules import LinearFeatures, Ruleset

FINE = 16
"""What stands for a hundredth of a piece."""
BATCH = 4096
STEP = 5e-3
DECAY = 3e-3
"""How strongly a worth is held at what it was guessed to be."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The traits of positions in which the side to move has no win at hand."""

    rows: npt.NDArray[np.int64]
    """Which of the positions."""
    traits: npt.NDArray[np.int32]
    """[position, ...]: the least of those alike; the last element of a worth stands for none."""


def traits_of(ruleset: Ruleset) -> LinearFeatures:
    """What the kernel tells of traits. Raises ValueError where it tells nothing of these rules."""
    rules = ruleset.rules
    if not hasattr(rules.kernel, "linear_features") or not is_told(ruleset):
        raise ValueError(f"the kernel of {rules.family} tells of no traits of these rules: give it `LinearFeatures`")
    return cast(LinearFeatures, rules.kernel)


def see(ruleset: Ruleset, states: npt.NDArray[Any]) -> Seen:
    """The traits of some positions."""
    kernel = traits_of(ruleset)
    found = np.zeros(kernel.MAX_LINEAR_FEATURES, dtype=np.int64)
    seen = np.full((len(states), kernel.MAX_LINEAR_FEATURES), kernel.LINEAR_FEATURE_COUNT, dtype=np.int32)
    counts = np.zeros(len(states), dtype=np.int64)
    for row, state in enumerate(states):
        counts[row] = count = kernel.linear_features(state, ruleset.config, found)
        seen[row, : max(count, 0)] = kernel.TIED_FEATURES[found[: max(count, 0)]]
    rows = np.flatnonzero(counts >= 0)
    return Seen(rows, seen[rows])


def learn(traits: npt.NDArray[np.int32], truth: Floats, *, prior: Floats, epochs: int, seed: int) -> Floats:
    """What traits are worth, by positions with them and their chances of winning (Adam, Kingma and Ba 2015).

    `prior` is what they are guessed to be worth, and a last element for none.
    """
    rng, worth = np.random.default_rng(seed), prior.copy()
    first, second, time = np.zeros_like(worth), np.zeros_like(worth), 0
    steps = max(1, len(traits) // BATCH)
    for epoch in range(epochs):
        order = rng.permutation(len(traits))
        for number in range(steps):
            some = order[number * BATCH : (number + 1) * BATCH]
            here = traits[some]
            off = np.repeat(chance(worth[here].sum(axis=1)) - truth[some], here.shape[1])
            pull = np.bincount(here.ravel(), off, minlength=len(worth)).astype(np.float32) / np.float32(len(some))
            pull += np.float32(DECAY) * (worth - prior)
            pull[-1] = 0
            time += 1
            first += np.float32(0.1) * (pull - first)
            second += np.float32(0.001) * (pull * pull - second)
            up, down = first / np.float32(1 - 0.9**time), second / np.float32(1 - 0.999**time)
            rate = STEP * (1 - (epoch + number / steps) / epochs) + STEP / 100
            worth -= np.float32(rate) * up / (np.sqrt(down) + np.float32(1e-8))
    return worth


def foretell(traits: npt.NDArray[np.int32], worth: Floats) -> Floats:
    """The chances of winning that traits speak of."""
    return chance(worth[traits].sum(axis=1))


def weights(kernel: LinearFeatures, worth: Floats, scale: float) -> npt.NDArray[np.int32]:
    """In whole numbers, [row, unit], every trait its own; the last row is filled with zeros."""
    whole = np.round(worth[kernel.TIED_FEATURES] * scale * FINE).astype(np.int32)
    return np.append(whole, np.zeros(-len(whole) % HIDDEN, dtype=np.int32)).reshape(-1, HIDDEN)


def fit_worth(ruleset: Ruleset, sample: Sample, *, trust: float, epochs: int, share: float, seed: int) -> Fitted:
    """What the traits of positions by these rules are worth; a `share` of the games is held out.

    The truth is `trust` times the result, the rest the score. Raises ValueError where the kernel tells of no traits or
    there are too few games.
    """
    kernel = traits_of(ruleset)
    sample = sample.take(np.abs(sample.static) < DECIDED)
    seen = see(ruleset, sample.state)
    sample, traits = sample.take(seen.rows), seen.traits
    held = held_out(sample, share, np.random.default_rng(seed))
    result = np.asarray((1 + sample.result) / 2, dtype=np.float32)
    truth = np.asarray(trust * result + (1 - trust) * foretold(sample, result, None), dtype=np.float32)
    plain = np.clip(sample.static, -MOST_SCORE, MOST_SCORE).astype(np.float32)
    scale, _ = meaning(plain, result, None)
    prior = np.append(kernel.PRIOR_WEIGHTS[kernel.TIED_FEATURES] / scale, 0).astype(np.float32)
    worth = learn(traits[~held], truth[~held], prior=prior, epochs=epochs, seed=seed)
    before, after = chance(plain[held] / np.float32(scale)), foretell(traits[held], worth)
    whole = weights(kernel, worth, scale)
    return Fitted(whole, scale, loss(truth[held], before), loss(truth[held], after), sample.state[held])
