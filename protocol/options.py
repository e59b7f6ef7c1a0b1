"""Options that a bot announces: `option name Hash type spin default 16 min 1 max 4096`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

from protocol.errors import BadLine, BadOption

OptionType: TypeAlias = Literal["check", "spin", "combo", "string", "button"]

TYPES: tuple[OptionType, ...] = ("check", "spin", "combo", "string", "button")

EMPTY = "<empty>"
"""Spelling of the empty text, which would be invisible at the end of a line."""

OPTION_FORM = "write: option name N type check|spin|combo|string|button [default V] [min A] [max B] [var V]..."

# The keywords of each option type. Other words are text: the default of a string option may contain the word `max`.
_WORDS: dict[OptionType, frozenset[str]] = {
    "check": frozenset({"name", "type", "default"}),
    "spin": frozenset({"name", "type", "default", "min", "max"}),
    "combo": frozenset({"name", "type", "default", "var"}),
    "string": frozenset({"name", "type", "default"}),
    "button": frozenset({"name", "type", "default"}),
}
_MAX_DIGITS = 18


def parse_int(text: str) -> int | None:
    """Parse a whole number of at most 18 ASCII digits, with or without a sign; None for any other text."""
    digits = text[1:] if text[:1] in ("-", "+") else text
    return int(text) if digits.isdecimal() and digits.isascii() and len(digits) <= _MAX_DIGITS else None


@dataclass(frozen=True, slots=True)
class OptionDecl:
    """An option as announced. `minimum` and `maximum` are for `spin`, `values` for `combo`."""

    name: str
    type: OptionType
    default: str | None = None
    minimum: int | None = None
    maximum: int | None = None
    values: tuple[str, ...] = ()

    def __str__(self) -> str:
        parts = [f"option name {self.name} type {self.type}"]
        if self.default is not None:
            parts.append(f"default {self.default or EMPTY}")
        if self.minimum is not None:
            parts.append(f"min {self.minimum}")
        if self.maximum is not None:
            parts.append(f"max {self.maximum}")
        parts += [f"var {value or EMPTY}" for value in self.values]
        return " ".join(parts)

    def accepts(self, value: str) -> bool:
        """Return whether `value` is valid."""
        return self._canonical(value) is not None

    def check(self, value: str) -> str:
        """Return `value` in the option's own spelling (`true`, the case of a combo value). Raises BadOption."""
        found = self._canonical(value)
        if found is None:
            raise BadOption(f"value of option {self.name}", value, self._known(), line=str(self))
        return found

    def is_default(self, value: str) -> bool:
        """Return whether `value` is the default, so that it need not be set."""
        if self.default is None:
            return False
        found = self._canonical(value)
        return found is not None and found == self._canonical(self.default)

    def _canonical(self, value: str) -> str | None:
        match self.type:
            case "check":
                lowered = value.lower()
                return lowered if lowered in ("true", "false") else None
            case "spin":
                number = parse_int(value)
                return None if number is None or self._is_out_of_bounds(number) else str(number)
            case "combo":
                # Real engines forget to list their default among the values, so accept it as well.
                known = self.values if self.default is None else (*self.values, self.default)
                if value in known:
                    return value
                lowered = value.lower()
                return next((v for v in known if v.lower() == lowered), None)
            case "string":
                return value if value.isprintable() else None
            case "button":
                return value if not value else None

    def _is_out_of_bounds(self, number: int) -> bool:
        is_below = self.minimum is not None and number < self.minimum
        return is_below or (self.maximum is not None and number > self.maximum)

    def _known(self) -> tuple[str, ...]:
        match self.type:
            case "check":
                return ("true", "false")
            case "spin":
                low = "" if self.minimum is None else str(self.minimum)
                high = "" if self.maximum is None else str(self.maximum)
                return (f"{low}..{high}",)
            case "combo":
                return self.values
            case "string":
                return ("any text of one line",)
            case "button":
                return ()


def _type_of(words: Sequence[str], line: str) -> OptionType:
    """Find the type before parsing the rest: it decides which words are keywords."""
    for word, after in pairwise(words):
        if word == "type" and after in TYPES:
            return after
    raise BadLine("an option without a valid type", line=line, hint=OPTION_FORM)


def _bound(text: str | None, name: str, line: str) -> int | None:
    if text is None:
        return None
    number = parse_int(text)
    if number is None:
        raise BadLine(f"{name} of an option is not a whole number", line=line, hint=OPTION_FORM)
    return number


def parse_option(line: str) -> OptionDecl:
    """Parse an `option` line; the leading word `option` may be missing, and the parts may have any order.

    Names and values may contain spaces; runs of spaces count as one. Raises BadLine.
    """
    words = line.split()
    if words[:1] == ["option"]:
        del words[0]
    kind = _type_of(words, line)
    parts, values = _parts(words, kind)

    def part(name: str) -> str | None:
        return None if name not in parts else _text(parts[name])

    name = part("name")
    if not name:
        raise BadLine("an option without a name", line=line, hint=OPTION_FORM)
    if part("type") != kind:
        raise BadLine("the type of an option is one word", line=line, hint=OPTION_FORM)
    default = part("default")
    minimum, maximum = _bound(part("min"), "min", line), _bound(part("max"), "max", line)
    if minimum is not None and maximum is not None and minimum > maximum:
        raise BadLine("min of an option is above its max", line=line, hint=OPTION_FORM)
    listed = tuple(map(_text, values))
    if default is not None:
        default = _default(default, kind, listed, line)
    return OptionDecl(name, kind, default, minimum, maximum, listed)


def _parts(words: Sequence[str], kind: OptionType) -> tuple[dict[str, list[str]], list[list[str]]]:
    """Split the words at the keywords: return the words of each part by its keyword, and those of each `var`."""
    parts: dict[str, list[str]] = {}
    values: list[list[str]] = []
    current: list[str] = []
    for word, after in zip(words, [*words[1:], ""], strict=True):
        if word == "var" and kind == "combo":
            current = []
            values.append(current)
        elif word in _WORDS[kind] and word not in parts and (word != "type" or after == kind):
            current = parts[word] = []
        else:
            current.append(word)
    return parts, values


def _text(words: Sequence[str]) -> str:
    joined = " ".join(words)
    return "" if joined == EMPTY else joined


def _default(default: str, kind: OptionType, listed: tuple[str, ...], line: str) -> str | None:
    """Normalise the default; None if the type has no default or the text is empty."""
    if kind == "button" or (default == "" and kind != "string" and "" not in listed):
        return None
    if kind == "check":
        default = default.lower()
        if default not in ("true", "false"):
            raise BadLine("the default of a check must be true or false", line=line, hint=OPTION_FORM)
    elif kind == "spin":
        # A default outside min..max is accepted: real engines have one, and it is only their initial value.
        default = str(_bound(default, "default", line))
    return default
