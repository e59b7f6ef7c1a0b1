"""Labelled positions, which `arena datagen` and `bots.training.selfplay_data` make, and the conversion of their scores
to probabilities.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from referee.rules import load
from referee.rules.rules import Ruleset

Floats = npt.NDArray[np.float32]

MAX_SCORE = 3_000
"""Scores are clipped to this, in centipawns."""
DECIDED_SCORE = 9_000
"""Positions with scores from here on are won or lost, and are not used."""
MIN_SCALE = 20.0
FOLDER_SHIFT = 32
"""Lowest bit of a folder's number in a game's number."""
NEWTON_STEPS = 20
"""Steps of Newton's method on two unknowns."""


@dataclass(frozen=True, slots=True)
class TrainingPositions:
    """Positions, one in each row. Scores and results are from the perspective of the side to move."""

    state: npt.NDArray[Any]
    score: npt.NDArray[np.int32]
    """Score of a search, in centipawns."""
    result: npt.NDArray[np.int8]
    """Result of the game: 1 won, 0 drawn, -1 lost."""
    game: npt.NDArray[np.int64]
    """Number of the game, with that of the folder in its high bits."""
    static: npt.NDArray[np.int64]
    """Static score of the family."""

    @classmethod
    def read(cls, folders: Sequence[Path]) -> tuple[Ruleset, TrainingPositions, list[dict[str, Any]]]:
        """Read the undecided positions of folders that `arena datagen` made.

        Returns the rules of the first folder, the positions, and the schema of each folder. Raises OSError, ValueError
        and KeyError for invalid folders, and ValueError for folders of several families or boards.
        """
        parts, origins, rulesets = [], [], []
        for number, folder in enumerate(folders):
            schema = json.loads((folder / "schema.json").read_text(encoding="utf-8"))
            origins.append({key: value for key, value in schema.items() if key != "fields"})
            rulesets.append(load(schema["family"]).settle(schema["variant"], schema["options"]))
            for shard in schema["shards"]:
                with np.load(folder / shard["file"]) as kept:
                    game = kept["game"].astype(np.int64) + (number << FOLDER_SHIFT)
                    static = static_scores(rulesets[-1], kept["state"])
                    parts.append(cls(kept["state"], kept["score"], kept["result"], game, static))
        if len({(ruleset.rules.family, has_features(ruleset)) for ruleset in rulesets}) != 1:
            raise ValueError(
                "the folders hold positions of several families or boards; give folders of one family and board"
            )
        whole = cls(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(cls)))
        return rulesets[0], whole.take(np.abs(whole.score) < DECIDED_SCORE), origins

    def take(self, rows: npt.NDArray[Any]) -> TrainingPositions:
        """Select rows."""
        return TrainingPositions(*(getattr(self, one.name)[rows] for one in fields(TrainingPositions)))


@dataclass(frozen=True, slots=True)
class FitResult:
    """Weights in the layout of `bots.search.net`, and the mean log loss on held-out games before and after fitting."""

    weights: npt.NDArray[np.int32]
    scale: float
    """Score that stands for a winning probability of 73 %."""
    before: float
    """Loss of the static score alone, corrected for the advantage of a side."""
    after: float
    held: npt.NDArray[Any]
    """States of the games held out."""


def has_features(ruleset: Ruleset) -> bool:
    """Return whether the family defines features for these rules."""
    features = ruleset.rules.features
    return features is not None and features.fits(ruleset.config)


def static_scores(ruleset: Ruleset, states: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return the static scores of positions for the side to move."""
    evaluate, config = ruleset.rules.kernel.evaluate, ruleset.config
    return np.array([int(evaluate(state, config)) for state in states], dtype=np.int64)


def logistic(score: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(np.clip(-score, -60, 60))), dtype=np.float32)


def log_loss(truth: Floats, guess: Floats) -> float:
    kept = np.clip(guess, 1e-6, 1 - 1e-6)
    return float(-(truth * np.log(kept) + (1 - truth) * np.log(1 - kept)).mean())


def fit_scale(scores: Floats, result: Floats, sides: Floats | None) -> tuple[float, float]:
    """Fit the scale and the offset that convert scores for the side to move to logits of the result (Newton's method).

    The scale is the score that stands for a winning probability of 73 %. `sides` is 1 where the second side is to
    move, -1 where the first is. The offset is added to scores of the second side and subtracted from those of the
    first, because one side may have better chances than the scores show. Without `sides` the offset is 0.
    """
    columns = [scores / np.float32(MAX_SCORE), *([] if sides is None else [sides])]
    known = np.column_stack(columns).astype(np.float64)
    weights = np.zeros(len(columns))
    for _ in range(NEWTON_STEPS):
        guess = 1 / (1 + np.exp(-known @ weights))
        bend = (known * (guess * (1 - guess))[:, np.newaxis]).T @ known + 1e-3 * np.eye(len(columns))
        weights += np.linalg.solve(bend, known.T @ (result - guess))
    scale = float(MAX_SCORE / np.clip(weights[0], 1, MAX_SCORE / MIN_SCALE))
    return scale, 0.0 if sides is None else float(weights[1]) * scale


def expected_results(data: TrainingPositions, result: Floats, sides: Floats | None) -> Floats:
    """Convert the search scores to winning probabilities, with a scale fitted to each folder."""
    score = np.clip(data.score, -MAX_SCORE, MAX_SCORE).astype(np.float32)
    return logistic(score_logits(data, score, result, sides))


def score_logits(data: TrainingPositions, given: Floats, result: Floats, sides: Floats | None) -> Floats:
    """Convert `given`, one score per position, to logits of winning.

    The scale is fitted to the search scores of the position's folder.
    """
    logits, score = np.empty_like(result), np.clip(data.score, -MAX_SCORE, MAX_SCORE).astype(np.float32)
    folder = data.game >> FOLDER_SHIFT
    for number in np.unique(folder):
        rows = folder == number
        own = None if sides is None else sides[rows]
        scale, offset = fit_scale(score[rows], result[rows], own)
        logits[rows] = (given[rows] + (0 if own is None else own * np.float32(offset))) / np.float32(scale)
    return logits


def split_validation(
    data: TrainingPositions, validation_split: float, rng: np.random.Generator
) -> npt.NDArray[np.bool_]:
    """Return a mask of the positions of a random share of the games, for validation.

    Raises ValueError if there are too few games.
    """
    known = np.unique(data.game)
    if len(known) < 4:
        raise ValueError(f"{len(known)} games are too few for training and validation; make more positions")
    return np.isin(data.game, rng.permutation(known)[: max(1, round(len(known) * validation_split))])
