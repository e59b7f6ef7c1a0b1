"""Forms of pages, generated from the fields of a query."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, TypeVar

from aiohttp import web

from arena.documents import words
from arena.documents.page import PageQuery
from arena.documents.query import QueryField, query_fields
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
        sorted((one for one in query_fields(kind) if one.name not in (*without, *known)), key=lambda one: one.group)
    )
    given = {
        one.name: request.query.get(one.name, "").strip()[: one.bounds.get("max_length", MAX_LENGTH)] for one in fields
    }
    values = {one.name: _value(request, one, given[one.name]) for one in fields if given[one.name]}
    return QueryForm(fields, given, query(**known, **values))


def _value(request: web.Request, one: QueryField, text: str) -> Any:
    if one.choices or one.bounds == words.FAMILY:
        return choice(request.query, one.name, tuple(one.choices) or families())
    if one.kind is bool:
        return choice(request.query, one.name, ("0", "1")) == "1"
    if one.kind is int:
        return number(request.query, one.name, 0, low=one.bounds.get("ge", 0), high=one.bounds.get("le", 10**9 - 1))
    if one.kind is float:
        return _decimal(one, text)
    return _day(one.name, text) if one.kind is datetime else text


def _decimal(one: QueryField, text: str) -> float:
    low, high = one.bounds["ge"], one.bounds["le"]
    try:
        value = float(text)
    except ValueError:
        value = low - 1
    if not low <= value <= high:
        hint = f"write a number from {low} to {high}"
        raise Problem("bad-request", f"invalid {one.name} {quoted(text)}", hint=hint, field=one.name)
    return value


def _day(name: str, text: str) -> datetime:
    """Parse a day such as `2026-11-30`; return its beginning in UTC."""
    try:
        found = datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
        _ = found + timedelta(days=1)
    except (ValueError, OverflowError):
        raise Problem(
            "bad-request", f"invalid {name} {quoted(text)}", field=name, hint="expected YYYY-MM-DD, such as 2026-11-30"
        ) from None
    return found
