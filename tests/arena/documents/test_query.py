"""Queries describe their fields once, for parameters, forms and options."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field
from datetime import datetime
from typing import Annotated, Literal

import pytest
from pydantic import Field, TypeAdapter, ValidationError

from arena.documents import words
from arena.documents.query import PageQuery, PageResponse, described, query_fields
from referee.meaning import HIDDEN


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
    number: int = field(default=0, metadata=HIDDEN)


def test_query_fields_follow_from_types_and_descriptions() -> None:
    by_name = {field.name: field for field in query_fields(_Query)}
    assert list(by_name) == ["limit", "after", "family", "plies", "result", "since", "source"]
    assert (by_name["family"].kind, by_name["family"].label, by_name["family"].bounds) == (str, "Family", words.FAMILY)
    assert (by_name["plies"].kind, by_name["plies"].default, by_name["plies"].group) == (int, 3, "of analysed games")
    assert by_name["plies"].bounds == {"ge": 0, "le": 9}
    assert by_name["result"].choices == {"first": "first won", "no_one": "no one"}
    assert by_name["since"].kind is datetime
    assert [field.name for field in by_name.values() if field.is_required] == ["source"]
    assert (by_name["plies"].metavar, by_name["source"].metavar) == ("N", "SOURCE")


def test_hidden_fields_are_not_part_of_the_json() -> None:
    page = PageResponse([_Line("a", 3)], "b").map(lambda line: _Line(line.name * 2, line.number))
    assert TypeAdapter(PageResponse[_Line]).dump_json(page) == b'{"items":[{"name":"aa"}],"next":"b"}'


@pytest.mark.parametrize("bounds", [words.ONE_LINE, words.PROSE])
def test_titles_and_descriptions_have_no_control_characters(bounds: words.Bounds) -> None:
    text = TypeAdapter(Annotated[str, Field(**bounds)])
    assert text.validate_python("née \xa0 Zürich") == "née \xa0 Zürich"
    for letter in "\x00\x1b\x7f\x80\x85\x9b\x9f\u2028\u2029\u202e":
        with pytest.raises(ValidationError, match="pattern"):
            text.validate_python(f"a{letter}b")
