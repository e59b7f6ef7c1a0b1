"""The archive: a query becomes a search by the rules of its family."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from arena.documents.archive import ArchiveQuery
from arena.services.archive import read_query

PARSED = ("family", "variant", "moves", "position")


@pytest.mark.parametrize("name", [field.name for field in fields(ArchiveQuery) if field.name not in PARSED])
def test_read_query_any_filter_reaches_the_search(name: str) -> None:
    value = object()
    assert getattr(read_query(replace(ArchiveQuery(), **{name: value})).query, name) is value  # type: ignore[arg-type]
