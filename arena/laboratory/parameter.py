"""What is tuned: spin options of a bot, each with bounds, a value to begin with and a step.

Refuses to know how values are found.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arena.errors import ArenaError
from protocol.options import OptionDecl

STEPS = 20
"""Into so many steps the range of an option is divided whose step nobody gave."""
_KEYS = ("min", "max", "start", "step")


class LaboratoryError(ArenaError):
    """What was given cannot be worked with; the message says why and what to do."""

    kind = "invalid"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A spin option to be tuned. Values are those of the option."""

    name: str
    least: int
    most: int
    start: int
    step: float
    """By how much values differ from the present one in the last games of a run: a change worth some ten Elo."""


def read_parameters(texts: Sequence[str], file: str | None, announced: Mapping[str, OptionDecl]) -> list[Parameter]:
    """Parameters from `NAME:MIN:MAX:START:STEP` and from TOML tables `[NAME]` with `min`, `max`, `start` and `step`.

    What is not given is what the bot announced of the option. Raises LaboratoryError.
    """
    given = [_read_text(text) for text in texts]
    given += _read_file(file) if file is not None else []
    if not given:
        spins = sorted(name for name, option in announced.items() if option.type == "spin")
        raise LaboratoryError(
            f"which options are to be tuned? --parameter NAME; the bot has {', '.join(spins) or 'no spin option'}"
        )
    found = [_settle(name, values, announced) for name, values in given]
    for number, one in enumerate(found):
        if one.name in [other.name for other in found[:number]]:
            raise LaboratoryError(f"the option {one.name} is named twice; take one of them out")
    return found


def _read_text(text: str) -> tuple[str, dict[str, float]]:
    name, *words = text.split(":")
    try:
        if len(words) > len(_KEYS):
            raise ValueError
        return name, {key: float(word) for key, word in zip(_KEYS, words, strict=False) if word}
    except ValueError:
        raise LaboratoryError(f"--parameter {text!r}: write NAME, or NAME:MIN:MAX:START:STEP") from None


def _read_file(text: str) -> list[tuple[str, dict[str, float]]]:
    hint = "write a table [NAME] for each option, with min, max, start and step"
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise LaboratoryError(f"the parameters are not TOML: {error}; {hint}") from None
    found = []
    for name, table in tables.items():
        if not isinstance(table, dict) or table.keys() - set(_KEYS):
            raise LaboratoryError(f"the parameters of {name}: {hint}")
        if any(isinstance(value, bool) or not isinstance(value, int | float) for value in table.values()):
            raise LaboratoryError(f"the parameters of {name} are not all numbers; {hint}")
        found.append((name, {key: float(value) for key, value in table.items()}))
    return found


def _settle(name: str, given: Mapping[str, float], announced: Mapping[str, OptionDecl]) -> Parameter:
    option = announced.get(name)
    if option is None or option.type != "spin":
        spins = sorted(one for one, decl in announced.items() if decl.type == "spin")
        raise LaboratoryError(f"the bot has no spin option {name!r}; it has {', '.join(spins) or 'none'}")
    lowest, highest = option.minimum or 0, option.maximum or 0
    least, most = int(given.get("min", lowest)), int(given.get("max", highest))
    start = int(given.get("start", min(max(int(option.default or "0"), least), most)))
    step = given.get("step", max(1.0, (most - least) / STEPS))
    if not (lowest <= least <= start <= most <= highest and least < most and 0 < step <= most - least):
        raise LaboratoryError(
            f"{name}: {least} to {most} from {start} by {step:g} does not fit; the option takes {lowest} to {highest}, "
            "the start lies within the bounds, and the step is smaller than their distance"
        )
    return Parameter(name, least, most, start, step)
