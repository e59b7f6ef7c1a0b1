"""Parameters of a tuning run: spin options of a bot, each with bounds, a start value and a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from protocol.options import OptionDecl
from referee import toml
from referee.errors import ArenaError

DEFAULT_STEPS = 20
"""An option without a given step gets its range divided by this."""
_KEYS = ("min", "max", "start", "step")


class LaboratoryError(ArenaError):
    """Invalid input of the laboratory; the message says why and what to do."""

    kind = "invalid"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A spin option to tune, with bounds, start and step in values of the option."""

    name: str
    minimum: int
    maximum: int
    start: int
    step: float
    """Perturbation in the last games of a run: a change worth about ten Elo."""


def read_parameters(texts: Sequence[str], file: str | None, announced: Mapping[str, OptionDecl]) -> list[Parameter]:
    """Read parameters from `NAME:MIN:MAX:START:STEP` and from TOML tables `[NAME]` with `min`, `max`, `start` and
    `step`.

    Missing bounds and starts are those the bot announced for the option; a missing step is the range divided by
    `DEFAULT_STEPS`, at least 1. Raises LaboratoryError.
    """
    given = [_read_text(text) for text in texts]
    given += _read_file(file) if file is not None else []
    if not given:
        spins = sorted(name for name, option in announced.items() if option.type == "spin")
        raise LaboratoryError(
            f"name the options to tune with --parameter NAME; the bot has {', '.join(spins) or 'no spin option'}"
        )
    parameters = [_settle(name, values, announced) for name, values in given]
    for number, parameter in enumerate(parameters):
        if parameter.name in [other.name for other in parameters[:number]]:
            raise LaboratoryError(f"the option {parameter.name} is given twice; remove one")
    return parameters


def _read_text(text: str) -> tuple[str, dict[str, float]]:
    name, *words = text.split(":")
    try:
        if len(words) > len(_KEYS):
            raise ValueError
        return name, {key: float(word) for key, word in zip(_KEYS, words, strict=False) if word}
    except ValueError:
        raise LaboratoryError(f"invalid --parameter {text!r}: expected NAME or NAME:MIN:MAX:START:STEP") from None


def _read_file(text: str) -> list[tuple[str, dict[str, float]]]:
    hint = "write a table [NAME] for each option with min, max, start and step"
    try:
        tables = toml.read(text)
    except toml.TomlError as error:
        raise LaboratoryError(f"invalid TOML in --parameters: {error}; {hint}") from None
    given = []
    for name, table in tables.items():
        if not isinstance(table, dict) or table.keys() - set(_KEYS):
            raise LaboratoryError(f"invalid parameter {name!r}: {hint}")
        if any(isinstance(value, bool) or not isinstance(value, int | float) for value in table.values()):
            raise LaboratoryError(f"invalid parameter {name!r}: expected numbers; {hint}")
        given.append((name, {key: float(value) for key, value in table.items()}))
    return given


def _settle(name: str, given: Mapping[str, float], announced: Mapping[str, OptionDecl]) -> Parameter:
    option = announced.get(name)
    if option is None or option.type != "spin":
        spins = sorted(option_name for option_name, decl in announced.items() if decl.type == "spin")
        raise LaboratoryError(f"the bot has no spin option {name!r}; it has {', '.join(spins) or 'none'}")
    lowest, highest = option.minimum or 0, option.maximum or 0
    minimum, maximum = int(given.get("min", lowest)), int(given.get("max", highest))
    start = int(given.get("start", min(max(int(option.default or "0"), minimum), maximum)))
    step = given.get("step", max(1.0, (maximum - minimum) / DEFAULT_STEPS))
    if not (lowest <= minimum <= start <= maximum <= highest and minimum < maximum and 0 < step <= maximum - minimum):
        raise LaboratoryError(
            f"invalid parameter {name!r}: {minimum} to {maximum} from {start} by {step:g}; the option takes "
            f"{lowest} to {highest}, the start must lie within the bounds and the step must not exceed their distance"
        )
    return Parameter(name, minimum, maximum, start, step)
