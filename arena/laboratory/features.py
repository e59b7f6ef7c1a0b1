"""Features of a fitted evaluation: by default piece-square counts, in which symmetric squares are counted
together.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from arena.laboratory.parameter import LaboratoryError
from referee.rules.rules import Ruleset

Matrix: TypeAlias = npt.NDArray[np.float64]
Features: TypeAlias = Callable[[Ruleset, npt.NDArray[Any]], tuple[list[str], Matrix]]
"""Function of rules and states (one a row) to the names of the features and a matrix [state, feature]."""
DEFAULT = "arena.laboratory.features:piece_squares"


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
    found = np.zeros((len(states), len(groups)))
    for column, places in enumerate(groups.values()):
        for cell, symbol in places:
            found[:, column] += contents[:, cell] == symbol
    return names, found


def read_features(text: str) -> Features:
    """Import the function named `MODULE:FUNCTION`. Raises LaboratoryError."""
    module, _, name = text.partition(":")
    try:
        found: Features = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise LaboratoryError(f"invalid --features {text!r}: {error}", hint="expected MODULE:FUNCTION") from None
    return found
