"""Forms of pages, generated from the fields of a query."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, TypeVar

from aiohttp import web

from arena.documents import words
from arena.documents.query import PageQuery, QueryField, query_fields
from arena.http.problem import Problem, quoted
from arena.pages.html_table import choice, number
from referee.rules import families

Q = TypeVar("Q")
NOT_IN_FORMS = (*(one.name for one in query_fields(PageQuery)), "sort", "order")
"""Fields that links set: the part of a list, and its order by the heads of its table."""
MAX_LENGTH = 4000
"""Maximum length of a text without a bound of its own; the rest is cut off."""


@dataclass(frozen=True, slots=True)
class QueryForm(Generic[Q]):
    """The fields of a form, the texts they were sent with, and the query they make."""

    fields: tuple[QueryField, ...]
    given: Mapping[str, str]
    query: Q

    @property
    def is_filled(self) -> bool:
        """True if any field has a text."""
        return any(self.given.values())


def form_names(query: type, without: Collection[str] = NOT_IN_FORMS) -> tuple[str, ...]:
    """Return the names of a query's fields, which are the parameters of its form."""
    return tuple(one.name for one in query_fields(query) if one.name not in without)


def read_form(
    request: web.Request, query: type[Q], *, without: Collection[str] = NOT_IN_FORMS, **known: Any
) -> QueryForm[Q]:
    """Return the form as filled in by the address; the fields of a `group`, such as those of analysed games, come last.

    `known` are values of the query that have no field in the form. Raises Problem (400).
    """
    kind: Any = query
    fields = tuple(
        sorted(
            (field for field in query_fields(kind) if field.name not in (*without, *known)),
            key=lambda field: field.group,
        )
    )
    given = {
        field.name: request.query.get(field.name, "").strip()[: field.bounds.get("max_length", MAX_LENGTH)]
        for field in fields
    }
    values = {field.name: _value(request, field, given[field.name]) for field in fields if given[field.name]}
    return QueryForm(fields, given, query(**known, **values))


def _value(request: web.Request, field: QueryField, text: str) -> Any:
    if field.choices or field.bounds == words.FAMILY:
        return choice(request.query, field.name, tuple(field.choices) or families())
    if field.kind is bool:
        return choice(request.query, field.name, ("0", "1")) == "1"
    if field.kind is int:
        return number(
            request.query, field.name, 0, low=field.bounds.get("ge", 0), high=field.bounds.get("le", 10**9 - 1)
        )
    if field.kind is float:
        return _decimal(field, text)
    return _day(field.name, text) if field.kind is datetime else text


def _decimal(field: QueryField, text: str) -> float:
    low, high = field.bounds["ge"], field.bounds["le"]
    try:
        value = float(text)
    except ValueError:
        value = low - 1
    if not low <= value <= high:
        hint = f"write a number from {low} to {high}"
        raise Problem("bad-request", f"invalid {field.name} {quoted(text)}", hint=hint, field=field.name)
    return value


def _day(name: str, text: str) -> datetime:
    """Parse a day such as `2026-11-30`; return its beginning in UTC."""
    try:
        day = datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
        _ = day + timedelta(days=1)
    except (ValueError, OverflowError):
        raise Problem(
            "bad-request", f"invalid {name} {quoted(text)}", field=name, hint="expected YYYY-MM-DD, such as 2026-11-30"
        ) from None
    return day
