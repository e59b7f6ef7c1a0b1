"""Queries describe their fields once, for parameters, forms and options."""

from __future__ import annotations

from dataclasses import MISSING, dataclass
from datetime import datetime
from typing import Literal

from pydantic import TypeAdapter

from arena.documents import words
from arena.documents.page import PageQuery, PageResponse
from arena.documents.query import described, hidden, query_fields


@dataclass(frozen=True, slots=True, kw_only=True)
class _Query(PageQuery):
    family: str | None = described("a family", words.FAMILY, label="Family")
    plies: int = described("the minimum", {"ge": 0, "le": 9}, default=3, group="of analysed games", metavar="N")
    result: Literal["first", "no_one"] | None = described("the winner", choices={"first": "first won"})
    since: datetime | None = described("the first day")
    source: str = described("the collection", default=MISSING)


@dataclass(frozen=True, slots=True)
class _Line:
    name: str
    number: int = hidden()


def test_query_fields_follow_from_types_and_descriptions() -> None:
    found = {one.name: one for one in query_fields(_Query)}
    assert list(found) == ["limit", "after", "family", "plies", "result", "since", "source"]
    assert (found["family"].kind, found["family"].label, found["family"].bounds) == (str, "Family", words.FAMILY)
    assert (found["plies"].kind, found["plies"].default, found["plies"].group) == (int, 3, "of analysed games")
    assert found["plies"].bounds == {"ge": 0, "le": 9}
    assert found["result"].choices == {"first": "first won", "no_one": "no one"}
    assert found["since"].kind is datetime
    assert [one.name for one in found.values() if one.is_required] == ["source"]
    assert (found["plies"].metavar, found["source"].metavar) == ("N", "SOURCE")


def test_hidden_fields_are_not_part_of_the_json() -> None:
    page = PageResponse([_Line("a", 3)], "b").map(lambda line: _Line(line.name * 2, line.number))
    assert TypeAdapter(PageResponse[_Line]).dump_json(page) == b'{"items":[{"name":"aa"}],"next":"b"}'
