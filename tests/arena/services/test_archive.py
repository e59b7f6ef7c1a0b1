"""The archive: a query becomes a search by the rules of its family."""

from __future__ import annotations

from dataclasses import fields, replace

from arena.documents.archive import ArchiveQuery
from arena.services.archive import read_query

PARSED = ("family", "variant", "moves", "position")


def test_read_query_any_filter_reaches_the_search() -> None:
    value = object()
    for name in [field.name for field in fields(ArchiveQuery) if field.name not in PARSED]:
        given = replace(ArchiveQuery(), **{name: value})  # type: ignore[arg-type]
        assert getattr(read_query(given).query, name) is value, name
