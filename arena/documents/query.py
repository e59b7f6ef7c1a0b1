"""Queries: frozen dataclasses whose fields describe themselves; and parts of long lists.

A field is declared once, with its type, default, help, bounds and label. From it follow the parameter of the JSON
interface, the field of the page's form and the option of the command.

    @dataclass(frozen=True, slots=True, kw_only=True)
    class ArchiveQuery(PageQuery):
        family: str | None = described("a family", words.FAMILY, label="Family")
        result: Literal["first", "second", "draw"] | None = described("the result")
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from datetime import datetime
from functools import cache
from types import NoneType
from typing import Any, ClassVar, Generic, Literal, TypeVar, get_args, get_origin, get_type_hints

T = TypeVar("T")
_NO_BOUNDS: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """The base class of queries and of the bodies of requests: unknown names are rejected."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = {"extra": "forbid"}


def described(
    text: str,
    bounds: Mapping[str, Any] = _NO_BOUNDS,
    *,
    default: Any = None,
    label: str = "",
    group: str = "",
    metavar: str = "",
    option: str = "",
    choices: Mapping[str, str] = _NO_BOUNDS,
) -> Any:
    """Declare a field of a query.

    `text` is its help, `bounds` are those of `arena.documents.words`. `label` is its name in forms; without one a form
    shows it only if it has a value. `choices` are the words of a form for the values of a `Literal`. `default` is
    MISSING for a required field. On the command line `group` is its heading, `metavar` its value in the help, `option`
    its name, by default that of the field after two dashes; a name without dashes is that of an argument.
    """
    about = {"description": text, **bounds, "label": label, "group": group, "metavar": metavar, "choices": choices}
    about["option"] = option
    return field(default=default, metadata=about)


@dataclass(frozen=True, slots=True)
class QueryField:
    """The description of a field of a query. `kind` is its type without None, `choices` are its values if limited."""

    name: str
    kind: type
    default: Any
    text: str
    label: str
    group: str
    metavar: str
    option: str
    choices: Mapping[str, str]
    bounds: Mapping[str, Any]

    @property
    def is_required(self) -> bool:
        """True if the field has no default."""
        return self.default is MISSING


@cache
def query_fields(query: Any) -> tuple[QueryField, ...]:
    """Return the descriptions of a query's fields in the order of declaration, those of base classes first."""
    hints = get_type_hints(query)
    return tuple(_described(one, hints[one.name]) for one in fields(query))


def _described(declared: Field[Any], hint: Any) -> QueryField:
    known = dict(declared.metadata)
    kind, values = _kind(hint)
    words = known.pop("choices", {})
    return QueryField(
        name=declared.name,
        default=declared.default,
        kind=kind,
        text=known.pop("description", ""),
        label=known.pop("label", ""),
        group=known.pop("group", ""),
        metavar=known.pop("metavar", "") or {int: "NUMBER", datetime: "TIME"}.get(kind, declared.name.upper()),
        option=known.pop("option", "") or f"--{declared.name.replace('_', '-')}",
        choices={value: words.get(value, value.replace("_", " ")) for value in values},
        bounds=known,
    )


def _kind(hint: Any) -> tuple[type, tuple[str, ...]]:
    """Return the type of a value and, for a `Literal`, its values."""
    parts = [part for part in get_args(hint) if part is not NoneType]
    if get_origin(hint) is Literal:
        return str, get_args(hint)
    if isinstance(hint, type):
        return hint, ()
    return _kind(parts[0])


MAX_LIMIT = 200
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class PageResponse(Generic[T]):
    """Part of a list. `next` is the cursor of the following part, null at the end."""

    items: list[T]
    next: str | None = None

    def map(self, change: Callable[[T], R]) -> PageResponse[R]:
        """Return the same part with converted items."""
        return PageResponse([change(item) for item in self.items], self.next)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageQuery(Query):
    """The part of a list to return."""

    limit: int = described(f"number of items, at most {MAX_LIMIT}", {"ge": 1, "le": MAX_LIMIT}, default=50)
    after: str | None = described(
        "`next` of the previous part", {"min_length": 1, "max_length": 400, "pattern": r"^[A-Za-z0-9_-]+$"}
    )


def joined(read: Callable[[str | None], PageResponse[T]], count: int | None = None) -> list[T]:
    """Return the items of all parts of a list; with `count`, stop once there are as many. `read` takes a cursor."""
    part = read(None)
    items = list(part.items)
    while part.next is not None and (count is None or len(items) < count):
        part = read(part.next)
        items += part.items
    return items
