"""What pieces are worth to a search that settles its leaves (`referee.rules.rules.Tactics`), fitted to games.

A logistic fit: a position at rest, where neither side can take anything or stands in check, foretells the chance that
the side to move wins by the sum of its prices. What is rarely seen keeps the kernel's guess. Refuses to know files and
commands: see `bots.training`.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import numpy.typing as npt

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
from referee.rules.rules import Ruleset, Tactics

States = npt.NDArray[Any]

STEPS = 12
"""Of Newton's method."""
DECAY = 1e-3
"""How strongly a price is held at what it was guessed to be."""
GRAIN = 12
"""So many hundredths of a guess are the unit of a group."""


def tactics_of(ruleset: Ruleset) -> Tactics:
    """What the kernel tells of tactics. Raises ValueError where it tells nothing of these rules."""
    rules = ruleset.rules
    if not hasattr(rules.kernel, "quiet_eval") or not is_told(ruleset):
        raise ValueError(f"the kernel of {rules.family} tells of no tactics of these rules: give it `Tactics`")
    return cast(Tactics, rules.kernel)


def at_rest(ruleset: Ruleset, states: States) -> npt.NDArray[np.bool_]:
    """In which positions neither side, on move, takes anything or stands in check."""
    kernel, config, features = tactics_of(ruleset), ruleset.config, ruleset.rules.features
    assert features is not None
    element, bit = features.mover
    moves, gains = np.zeros((2, ruleset.rules.kernel.MAX_MOVES), dtype=np.int64)
    found = np.ones(len(states), dtype=np.bool_)
    other = states.copy()
    other[:, element] ^= states.dtype.type(bit)
    for seen in (states, other):
        for row in np.flatnonzero(found):
            state = seen[row]
            found[row] = not kernel.in_check(state, config) and not kernel.captures(
                state, config, kernel.PIECE_VALUES, moves, gains
            )
    return found


def counts_of(ruleset: Ruleset, states: States) -> Floats:
    """[position, price]: how often what each price is for is there, as the side to move sees it."""
    kernel, config = tactics_of(ruleset), ruleset.config
    units = np.eye(len(kernel.PIECE_VALUES), dtype=np.int64)
    return np.array([[kernel.quiet_eval(state, config, unit) for unit in units] for state in states], dtype=np.float32)


def groups_of(kernel: Tactics) -> npt.NDArray[np.float64]:
    """[price, group]: what each price is in units of its group. A price that is alone is its own unit."""
    alone = np.bincount(kernel.VALUE_GROUPS)[kernel.VALUE_GROUPS] == 1
    return (
        np.eye(kernel.VALUE_GROUPS.max() + 1)[kernel.VALUE_GROUPS]
        * np.where(alone, 1, kernel.PIECE_VALUES / GRAIN)[:, np.newaxis]
    )


def prices_of(kernel: Tactics, groups: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    """The prices by what their groups are worth, in whole numbers."""
    return np.asarray(np.round(groups_of(kernel) @ groups), dtype=np.int32)


def learn(counts: Floats, truth: Floats, prior: Floats) -> Floats:
    """The prices by positions and their chances of winning; `prior` is what they are guessed to be."""
    known, found = counts.astype(np.float64), prior.astype(np.float64)
    for _ in range(STEPS):
        guess = 1 / (1 + np.exp(-known @ found))
        pull = known.T @ (guess - truth) / len(known) + DECAY * (found - prior)
        bend = (known * (guess * (1 - guess))[:, np.newaxis]).T @ known / len(known) + DECAY * np.eye(len(found))
        found -= np.linalg.solve(bend, pull)
    return found.astype(np.float32)


def told(
    game: npt.NDArray[np.int64], result: Floats, score: Floats, second: npt.NDArray[np.bool_], trust: float
) -> Floats:
    """The chances of winning, by what search scores say of each position and of those after it, and by the result.

    `trust` is the lambda of TD(lambda) (Sutton, 1988): what is n positions off weighs `trust` to the n. `game` says of
    which game positions are, which stand in their order; `second` where the second side moves.
    """
    own, found = np.where(second, 1 - score, score), np.where(second, 1 - result, result)
    for row in range(len(found) - 1, -1, -1):
        after = found[row + 1] if row + 1 < len(found) and game[row + 1] == game[row] else found[row]
        found[row] = (1 - trust) * own[row] + trust * after
    return np.asarray(np.where(second, 1 - found, found), dtype=np.float32)


def fit_prices(ruleset: Ruleset, sample: Sample, *, trust: float, share: float, seed: int) -> Fitted:
    """What things are worth in positions by these rules; a `share` of the games is held out.

    The truth about them is what is `told`. Raises ValueError where the kernel tells of no tactics or there are too few
    games.
    """
    kernel, features = tactics_of(ruleset), ruleset.rules.features
    assert features is not None
    sample = sample.take(np.abs(sample.static) < DECIDED)
    result = np.asarray((1 + sample.result) / 2, dtype=np.float32)
    element, bit = features.mover
    second = sample.state[:, element].astype(np.int64) & bit != 0
    truth = told(sample.game, result, foretold(sample, result, None), second, trust)
    rows = at_rest(ruleset, sample.state)
    sample, result, truth = sample.take(rows), result[rows], truth[rows]
    held = held_out(sample, share, np.random.default_rng(seed))
    plain = np.clip(sample.static, -MOST_SCORE, MOST_SCORE).astype(np.float32)
    scale, _ = meaning(plain, result, None)
    groups = groups_of(kernel)
    counts = (counts_of(ruleset, sample.state) @ groups).astype(np.float32)
    prior = np.linalg.lstsq(groups, kernel.PIECE_VALUES / scale, rcond=None)[0].astype(np.float32)
    prices = learn(counts[~held], truth[~held], prior)
    before, after = chance(plain[held] / np.float32(scale)), chance(counts[held] @ prices)
    whole = prices_of(kernel, prices * scale)[np.newaxis]
    return Fitted(whole, scale, loss(truth[held], before), loss(truth[held], after), sample.state[held])
