"""Fit the piece values of quiescence search (`referee.rules.kernel_protocol.Tactics`) to games.

Logistic regression on quiet positions, in which neither side can capture or is in check: the score by piece values
predicts the expected result of the side to move. Values of rare pieces stay near those of the kernel, the prior.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import numpy.typing as npt

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
from referee.rules.kernel_protocol import Tactics
from referee.rules.rules import Ruleset

States = npt.NDArray[Any]

NEWTON_STEPS = 12
PRIOR_STRENGTH = 1e-3
"""Penalty on the squared distance of a value from its prior."""
UNIT_DIVISOR = 12
"""Centipawns of a prior that make one unit of its group."""


def tactics_of(ruleset: Ruleset) -> Tactics:
    """Return the kernel as `Tactics`, its functions for quiescence search.

    Raises ValueError if it has none for these rules.
    """
    rules = ruleset.rules
    if not hasattr(rules.kernel, "quiet_eval") or not has_features(ruleset):
        raise ValueError(f"the kernel of {rules.family} has no tactics for these rules: implement `Tactics`")
    return cast(Tactics, rules.kernel)


def quiet_positions(ruleset: Ruleset, states: States) -> npt.NDArray[np.bool_]:
    """Return a mask of the positions in which neither side, if it were to move, could capture or would be in check."""
    kernel, config, features = tactics_of(ruleset), ruleset.config, ruleset.rules.features
    assert features is not None
    element, bit = features.mover
    moves, gains = np.zeros((2, ruleset.rules.kernel.MAX_MOVES), dtype=np.int64)
    quiet = np.ones(len(states), dtype=np.bool_)
    other = states.copy()
    other[:, element] ^= states.dtype.type(bit)
    for seen in (states, other):
        for row in np.flatnonzero(quiet):
            state = seen[row]
            quiet[row] = not kernel.in_check(state, config) and not kernel.captures(
                state, config, kernel.PIECE_VALUES, moves, gains
            )
    return quiet


def piece_counts(ruleset: Ruleset, states: States) -> Floats:
    """Return the coefficient of each piece value in the score for the side to move, shape (positions, piece values)."""
    kernel, config = tactics_of(ruleset), ruleset.config
    units = np.eye(len(kernel.PIECE_VALUES), dtype=np.int64)
    return np.array([[kernel.quiet_eval(state, config, unit) for unit in units] for state in states], dtype=np.float32)


def group_units(kernel: Tactics) -> npt.NDArray[np.float64]:
    """Return the matrix that converts the value of each group to its piece values, shape (piece values, groups).

    The piece values of a group keep the ratios that they have in the kernel.
    """
    alone = np.bincount(kernel.VALUE_GROUPS)[kernel.VALUE_GROUPS] == 1
    return (
        np.eye(kernel.VALUE_GROUPS.max() + 1)[kernel.VALUE_GROUPS]
        * np.where(alone, 1, kernel.PIECE_VALUES / UNIT_DIVISOR)[:, np.newaxis]
    )


def expand_groups(kernel: Tactics, groups: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    """Convert values of groups to piece values, as integers."""
    return np.asarray(np.round(group_units(kernel) @ groups), dtype=np.int32)


def train(counts: Floats, truth: Floats, prior: Floats) -> Floats:
    """Fit piece values to the piece counts and the expected results of positions, with a Gaussian `prior`."""
    known, values = counts.astype(np.float64), prior.astype(np.float64)
    for _ in range(NEWTON_STEPS):
        prediction = 1 / (1 + np.exp(-known @ values))
        gradient = known.T @ (prediction - truth) / len(known) + PRIOR_STRENGTH * (values - prior)
        hessian = (known * (prediction * (1 - prediction))[:, np.newaxis]).T @ known / len(
            known
        ) + PRIOR_STRENGTH * np.eye(len(values))
        values -= np.linalg.solve(hessian, gradient)
    return values.astype(np.float32)


def td_lambda_targets(
    game: npt.NDArray[np.int64], result: Floats, score: Floats, second: npt.NDArray[np.bool_], result_weight: float
) -> Floats:
    """Compute the expected results of positions by TD(lambda) (Sutton, 1988): from the search scores of the position
    and of later ones in its game, and from the result.

    `result_weight` is lambda: a score n positions later has the relative weight lambda to the n. `game` is the number
    of each position's game; the positions of a game are adjacent, in order of play. `second` is true where the second
    side is to move.
    """
    own, targets = np.where(second, 1 - score, score), np.where(second, 1 - result, result)
    for row in range(len(targets) - 1, -1, -1):
        after = targets[row + 1] if row + 1 < len(targets) and game[row + 1] == game[row] else targets[row]
        targets[row] = (1 - result_weight) * own[row] + result_weight * after
    return np.asarray(np.where(second, 1 - targets, targets), dtype=np.float32)


def fit_piece_values(
    ruleset: Ruleset, data: TrainingPositions, *, result_weight: float, validation_split: float, seed: int
) -> FitResult:
    """Fit piece values; a share `validation_split` of the games is held out.

    Targets are those of `td_lambda_targets`. Raises ValueError if the kernel lacks
    `Tactics` or there are too few games.
    """
    kernel, features = tactics_of(ruleset), ruleset.rules.features
    assert features is not None
    data = data.take(np.abs(data.static) < DECIDED_SCORE)
    result = np.asarray((1 + data.result) / 2, dtype=np.float32)
    element, bit = features.mover
    second = data.state[:, element].astype(np.int64) & bit != 0
    truth = td_lambda_targets(data.game, result, expected_results(data, result, None), second, result_weight)
    rows = quiet_positions(ruleset, data.state)
    data, result, truth = data.take(rows), result[rows], truth[rows]
    held = split_validation(data, validation_split, np.random.default_rng(seed))
    plain = np.clip(data.static, -MAX_SCORE, MAX_SCORE).astype(np.float32)
    scale, _ = fit_scale(plain, result, None)
    groups = group_units(kernel)
    counts = (piece_counts(ruleset, data.state) @ groups).astype(np.float32)
    prior = np.linalg.lstsq(groups, kernel.PIECE_VALUES / scale, rcond=None)[0].astype(np.float32)
    values = train(counts[~held], truth[~held], prior)
    before, after = logistic(plain[held] / np.float32(scale)), logistic(counts[held] @ values)
    whole = expand_groups(kernel, values * scale)[np.newaxis]
    return FitResult(whole, scale, log_loss(truth[held], before), log_loss(truth[held], after), data.state[held])
