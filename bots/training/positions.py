"""Positions of games with what came of them (`arena datagen`, `bots.training.selfplay_data`), and what static scores say of results.

What the fits of `bots.training` and `bots.training.linear_fit` begin with. Refuses to know what is fitted.
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
"""Scores count up to here, in hundredths of a piece."""
DECIDED_SCORE = 9_000
"""Positions whose scores reach this are won or lost: nothing is learned from them."""
MIN_SCALE = 20.0
FOLDER_SHIFT = 32
"""The lowest bit of a folder's number."""
NEWTON_STEPS = 20
"""Of Newton's method, on two unknowns."""


@dataclass(frozen=True, slots=True)
class TrainingPositions:
    """Positions, one a row; numbers are for the side to move."""

    state: npt.NDArray[Any]
    score: npt.NDArray[np.int32]
    """What a search thought of it, in hundredths of a piece."""
    result: npt.NDArray[np.int8]
    """How the game ended: 1 won, 0 drawn, -1 lost."""
    game: npt.NDArray[np.int64]
    """Its number, and above it that of the folder."""
    static: npt.NDArray[np.int64]
    """The family's static score."""

    @classmethod
    def read(cls, folders: Sequence[Path]) -> tuple[Ruleset, TrainingPositions, list[dict[str, Any]]]:
        """The undecided positions of folders of `arena datagen`, the rules of the first, and where they come from.

        Raises OSError, ValueError and KeyError for folders that are none such, or not of one family.
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
        if len({(one.rules.family, has_features(one)) for one in rulesets}) != 1:
            raise ValueError(
                "the folders hold positions of several families or boards; give folders of one family and board"
            )
        whole = cls(*(np.concatenate([getattr(part, one.name) for part in parts]) for one in fields(cls)))
        return rulesets[0], whole.take(np.abs(whole.score) < DECIDED_SCORE), origins

    def take(self, rows: npt.NDArray[Any]) -> TrainingPositions:
        """Those of these rows."""
        return TrainingPositions(*(getattr(self, one.name)[rows] for one in fields(TrainingPositions)))


@dataclass(frozen=True, slots=True)
class FitResult:
    """Weights as `bots.search.net` has them, and the mean log losses on games that were held out."""

    weights: npt.NDArray[np.int32]
    scale: float
    """The score that stands for a chance of winning of 73 %."""
    before: float
    """With the static score alone, and which side wins more."""
    after: float
    held: npt.NDArray[Any]
    """The states that were held out."""


def has_features(ruleset: Ruleset) -> bool:
    """Whether the family tells of features of these rules."""
    features = ruleset.rules.features
    return features is not None and features.fits(ruleset.config)


def static_scores(ruleset: Ruleset, states: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """The static scores of positions by these rules, for the side to move."""
    evaluate, config = ruleset.rules.kernel.evaluate, ruleset.config
    return np.array([int(evaluate(state, config)) for state in states], dtype=np.int64)


def logistic(score: Floats) -> Floats:
    """The logistic function."""
    return np.asarray(1 / (1 + np.exp(np.clip(-score, -60, 60))), dtype=np.float32)


def log_loss(truth: Floats, guess: Floats) -> float:
    """The mean log loss."""
    kept = np.clip(guess, 1e-6, 1 - 1e-6)
    return float(-(truth * np.log(kept) + (1 - truth) * np.log(1 - kept)).mean())


def fit_scale(scores: Floats, result: Floats, sides: Floats | None) -> tuple[float, float]:
    """What scores for the side to move say of results: a scale and an offset, by a logistic fit (Newton's method).

    The scale is the score that stands for a chance of winning of 73 %. With `sides`, 1 where the second of the two
    moves and -1 where the first does, the offset is what has to be added to scores of the second and taken off the
    first's, since one side may be better off than scores say; else 0.
    """
    columns = [scores / np.float32(MAX_SCORE), *([] if sides is None else [sides])]
    known = np.column_stack(columns).astype(np.float64)
    found = np.zeros(len(columns))
    for _ in range(NEWTON_STEPS):
        guess = 1 / (1 + np.exp(-known @ found))
        bend = (known * (guess * (1 - guess))[:, np.newaxis]).T @ known + 1e-3 * np.eye(len(columns))
        found += np.linalg.solve(bend, known.T @ (result - guess))
    scale = float(MAX_SCORE / np.clip(found[0], 1, MAX_SCORE / MIN_SCALE))
    return scale, 0.0 if sides is None else float(found[1]) * scale


def expected_results(data: TrainingPositions, result: Floats, sides: Floats | None) -> Floats:
    """The chances of winning that the scores speak of, by what those of each folder mean."""
    score = np.clip(data.score, -MAX_SCORE, MAX_SCORE).astype(np.float32)
    return logistic(score_logits(data, score, result, sides))


def score_logits(data: TrainingPositions, given: Floats, result: Floats, sides: Floats | None) -> Floats:
    """The logits of winning that `given` scores speak of, by what those of searches mean in each folder."""
    found, score = np.empty_like(result), np.clip(data.score, -MAX_SCORE, MAX_SCORE).astype(np.float32)
    folder = data.game >> FOLDER_SHIFT
    for number in np.unique(folder):
        rows = folder == number
        own = None if sides is None else sides[rows]
        scale, offset = fit_scale(score[rows], result[rows], own)
        found[rows] = (given[rows] + (0 if own is None else own * np.float32(offset))) / np.float32(scale)
    return found


def split_validation(
    data: TrainingPositions, validation_split: float, rng: np.random.Generator
) -> npt.NDArray[np.bool_]:
    """Which positions are of a `share` of the games, drawn by lot. Raises ValueError where there are too few games."""
    known = np.unique(data.game)
    if len(known) < 4:
        raise ValueError(f"{len(known)} games are too few for training and validation; make more positions")
    return np.isin(data.game, rng.permutation(known)[: max(1, round(len(known) * validation_split))])
