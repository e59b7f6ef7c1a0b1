"""The games of a family: rule options, variants, and a phase before the main game."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from referee.rules.core import UnknownNameError, value_text
from referee.rules.kernel_protocol import Config, State

Value: TypeAlias = str | int | bool
Changes: TypeAlias = Literal["moves", "result", "limits", "display"]


@dataclass(frozen=True, slots=True)
class Option:
    """One rule option: its name, type, permitted values, default and effect.

    `combo` takes one of `values`, `spin` an integer of `minimum..maximum` not in `excluded`, `check` true or false.
    Bots must support an option whose `changes` is `moves` or `result`; they need not support `limits` or `display`.
    """

    name: str
    type: Literal["combo", "spin", "check"]
    default: Value
    changes: Changes
    meaning: str
    values: tuple[str, ...] = ()
    minimum: int = 0
    maximum: int = 1_000_000
    excluded: tuple[int, ...] = ()

    def read(self, value: Value) -> Value:
        """Convert `value` (from JSON or text) to the option's own type. Raise UnknownNameError with legal values."""
        text = value_text(value).strip()
        if self.type == "check":
            is_on = {"true": True, "1": True, "false": False, "0": False}.get(text.lower())
            if is_on is not None:
                return is_on
        elif self.type == "spin":
            if text.isascii() and text.isdecimal() and len(text) <= 9:
                number = int(text)
                if self.minimum <= number <= self.maximum and number not in self.excluded:
                    return number
        elif text in self.values:
            return text
        raise UnknownNameError(f"value of option {self.name}", text, self.names())

    def names(self) -> tuple[str, ...]:
        """Return the legal values as text."""
        if self.type == "check":
            return ("true", "false")
        if self.type == "spin":
            gap = " except " + ", ".join(map(str, self.excluded)) if self.excluded else ""
            return (f"{self.minimum}..{self.maximum}{gap}",)
        return self.values

    def encode(self, value: Value) -> int:
        """Return the number that stands for the value in a `Config`."""
        return self.values.index(str(value)) if self.type == "combo" else int(value)


@dataclass(frozen=True, slots=True)
class Variant:
    """A named start plus rule options: `options` holds the values that differ from the family's defaults.

    `params` are the family's own constants that no option expresses (board size, a hole). In a `Config` they follow the
    options. All variants of a family have the same number of them.
    """

    name: str
    position: str
    options: Mapping[str, Value] = field(default_factory=dict)
    params: tuple[int, ...] = ()
    note: str = ""
    is_dealt: bool = False
    """Whether the name stands for a random start, of which `position` is a sample. A game sends its bots the position,
    and every pair of games gets another one (see `Rules.draw`).
    """


@dataclass(frozen=True, slots=True)
class Phase:
    """A phase before the main game. If a bot does not support it, the referee passes in its place.

    During the phase a pass (`Notation.pass_move`) is always legal. A phase that has ended never returns.
    """

    name: str
    """The name shown to people: `swap phase`."""
    rule: str
    """The rule option, a check, that enables the phase."""
    announced_by: str
    """The protocol option by which a bot announces support and learns whether the phase takes place."""
    holds: Callable[[State, Config], bool]
    """Return whether a position is in the phase."""
    begin: Callable[[str], str]
    """Return a start's position string with the phase still to be played."""
