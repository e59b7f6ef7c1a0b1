"""Validates and serialises models with pydantic: both pydantic's own models and plain dataclasses.

Validation errors become messages in the user's terms: which key, what is wrong, what to write.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Any, TypeAlias, get_args, get_type_hints

from pydantic import BaseModel, TypeAdapter, ValidationError

from referee.errors import did_you_mean, near

MAX_ERRORS = 50
"""Most errors that are reported."""
Model: TypeAlias = Any
"""A class: a model of pydantic or a dataclass, also a generic one with its argument."""


@cache
def adapter_of(model: Model) -> TypeAdapter[Any]:
    """Return the cached pydantic adapter of a model."""
    return TypeAdapter(model)


def plain(document: Any) -> dict[str, Any]:
    """Return a document as plain data, as the JSON interface writes it."""
    model: Model = type(document)
    return dict(adapter_of(model).dump_python(document, mode="json"))


def is_model(hint: Any) -> bool:
    return isinstance(hint, type) and (issubclass(hint, BaseModel) or is_dataclass(hint))


def hints_of(model: Model) -> dict[str, Any]:
    """Return the types of a model's fields, under the names that users write."""
    if issubclass(model, BaseModel):
        return {field.alias or name: field.annotation for name, field in model.model_fields.items()}
    hints = get_type_hints(model)
    return {field.name: hints[field.name] for field in fields(model)}


@dataclass(frozen=True, slots=True)
class Misfit:
    """An invalid value: the path of its key, the problem, and a hint what to write instead."""

    field: str
    problem: str
    hint: str = ""
    near: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The problem and the hint, without the key."""
        return f"{self.problem}; {self.hint}" if self.hint else self.problem

    def __str__(self) -> str:
        return f"{self.field}: {self.sentence}" if self.field else self.sentence


def misfits(error: ValidationError, model: Model, *, forms: Mapping[str, str] | None = None) -> list[Misfit]:
    """Return all errors, one for each key. `forms` has a hint for each pattern that a text must match.

    The optional `SUGGESTED_KEYS` of a model maps unknown keys to known ones (`tc`: `time_control`);
    `EXPLAINED_KEYS` maps keys that no other key stands for to what to do.
    """
    by_field: dict[str, Misfit] = {}
    for detail in error.errors(include_url=False)[:MAX_ERRORS]:
        misfit = _misfit(detail, model, forms or {})
        by_field.setdefault(misfit.field, misfit)
    return list(by_field.values())


def keys(model: Model, before: str = "") -> Iterator[str]:
    """Yield all keys of a model, those of its tables with a dot: `name`, `entries`, `entries.bots` …"""
    for name, hint in hints_of(model).items():
        yield before + name
        if inner := table_of(hint):
            yield from keys(inner, f"{before}{name}.")


def table_of(annotation: Any) -> Model | None:
    """Return the model in an annotation such as `Recurrence | None`, or None for a plain value."""
    return next((kind for kind in (annotation, *get_args(annotation)) if is_model(kind)), None)


def shown(value: Any) -> str:
    words = repr(value) if isinstance(value, (str, int, float)) else "this"
    words = {"True": "true", "False": "false"}.get(words, words)
    return words if len(words) <= 60 else f"{words[:59]}…"


def _misfit(detail: Mapping[str, Any], model: Model, forms: Mapping[str, str]) -> Misfit:
    place = [str(part) for part in detail["loc"]]
    if detail["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        return _unknown(place, model)  # first: the key may be called `int`
    if place and place[-1] in _PLAIN:  # an alternative of a union type
        place.pop()
        given = detail.get("input")
        problem = "invalid value" if isinstance(given, (list, dict)) else f"invalid value {shown(given)}"
        return Misfit(_path(place), problem, "write a text, a number or true")
    return Misfit(_path(place), *_words(str(detail["type"]), detail.get("input"), detail.get("ctx", {}), forms))


def _path(place: list[str]) -> str:
    return ".".join(place)[:200]


def _words(kind: str, given: Any, context: Mapping[str, Any], forms: Mapping[str, str]) -> tuple[str, str]:
    """Return the problem and, unless that is obvious, what to write."""
    words = (f"invalid value {shown(given)}", "see the reference of all keys")
    if kind == "missing":
        words = ("is missing", "write it")
    elif kind == "value_error":
        words = (str(context["error"]), "")
    elif kind == "literal_error":
        values = str(context["expected"]).replace("'", "").replace(" or ", ", ").split(", ")
        similar = did_you_mean(near(str(given), values, 1))
        words = (f"invalid value {shown(given)}", _choices(similar, values))
    elif kind == "string_pattern_mismatch":
        words = (f"invalid value {shown(given)}", forms.get(str(context["pattern"]), "see the reference of all keys"))
    elif kind in _BOUNDS:
        words = _BOUNDS[kind](shown(given), context)
    else:
        for expected, known in _KINDS.items():
            if kind in known:
                words = (f"{shown(given)} is not {expected}", f"write {expected}")
    return words


def _choices(similar: str, values: Iterable[str]) -> str:
    """Return the hint that lists the allowed `values`; `similar` is the probable correction."""
    return f"{similar} Choose from {', '.join(values)}" if similar else f"choose from {', '.join(values)}"


_PLAIN = ("bool", "int", "float", "str", "constrained-str")
_KINDS: Mapping[str, tuple[str, ...]] = {
    "a whole number": ("int_type", "int_parsing", "int_from_float", "int_parsing_size"),
    "a number": ("float_type", "float_parsing", "finite_number"),
    "true or false": ("bool_type", "bool_parsing"),
    "a text": ("string_type", "string_unicode"),
    "a list": ("list_type", "tuple_type"),
    "a table": ("dict_type", "model_type", "dataclass_type", "model_attributes_type", "mapping_type"),
    "a time such as 2027-01-31T20:00:00Z": (
        *("datetime_type", "datetime_parsing", "datetime_from_date_parsing", "datetime_object_invalid"),
        *("timezone_naive", "date_type", "date_parsing"),
    ),
    "a path": ("path_type",),
}

_Bound = Callable[[str, Mapping[str, Any]], tuple[str, str]]
_BOUNDS: Mapping[str, _Bound] = {
    "greater_than_equal": lambda given, ctx: (f"{given} is too small", f"write {ctx['ge']:,} or more"),
    "greater_than": lambda given, ctx: (f"{given} is too small", f"write more than {ctx['gt']:,}"),
    "less_than_equal": lambda given, ctx: (f"{given} is too large", f"write {ctx['le']:,} or less"),
    "less_than": lambda given, ctx: (f"{given} is too large", f"write less than {ctx['lt']:,}"),
    "string_too_short": lambda given, ctx: (f"{given} is too short", f"write {ctx['min_length']:,} characters or more"),
    "string_too_long": lambda given, ctx: (f"{given} is too long", f"write {ctx['max_length']:,} characters or fewer"),
    "too_short": lambda given, ctx: (f"{given} is too short", f"write {ctx['min_length']:,} or more"),
    "too_long": lambda given, ctx: (f"{given} is too long", f"write {ctx['max_length']:,} or fewer"),
}


def _unknown(place: list[str], model: Model) -> Misfit:
    """Report an unknown key with the probable correction, or with all keys of its table."""
    # Numbers in the path are places in a list: the model has one key for all of them.
    known, last, before = list(keys(model)), place[-1], ".".join(part for part in place[:-1] if not part.isdecimal())
    beside = [key.rpartition(".")[2] for key in known if key.rpartition(".")[0] == before]
    elsewhere = [key for key in known if key.rpartition(".")[2] == last]
    meant: Mapping[str, str] = getattr(model, "SUGGESTED_KEYS", {})
    explained: Mapping[str, str] = getattr(model, "EXPLAINED_KEYS", {})
    if len(place) == 1 and last in explained:
        return Misfit(_path(place), "unknown key", explained[last])
    other = meant.get(last)
    suggestions = [other] if other else elsewhere or [f"{before}.{name}".lstrip(".") for name in near(last, beside)]
    hint = did_you_mean(suggestions) or _choices("", beside)
    return Misfit(_path(place), "unknown key", hint, tuple(suggestions))
