"""Forms of pages that follow from queries."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

import pytest
from aiohttp.test_utils import make_mocked_request

from arena.documents import words
from arena.documents.query import PageQuery, described
from arena.http.problem import Problem
from arena.pages.query_form import form_names, read_form


@dataclass(frozen=True, slots=True, kw_only=True)
class _Query(PageQuery):
    family: str | None = described("a family", words.FAMILY)
    player: str | None = described("a name", {"max_length": 5}, label="Player")
    min_plies: int | None = described("the minimum", {"ge": 2, "le": 9})
    rating: float | None = described("the strength", {"ge": -5, "le": 5})
    result: Literal["first", "none"] | None = described("the winner")
    since: datetime | None = described("the first day")


def test_read_form_makes_the_query_of_the_texts() -> None:
    request = make_mocked_request(
        "GET", "/?player=%20picasso&min_plies=3&rating=-2.5&result=none&since=2026-11-30&limit=7"
    )
    form = read_form(request, _Query, family="loa")
    assert form.query == _Query(
        family="loa",
        player="picas",
        min_plies=3,
        rating=-2.5,
        result="none",
        since=datetime(2026, 11, 30, tzinfo=UTC),
    )
    assert list(form.given) == ["player", "min_plies", "rating", "result", "since"]
    assert form.given["player"] == "picas"
    assert form.is_filled
    assert not read_form(make_mocked_request("GET", "/?player="), _Query).is_filled


@pytest.mark.parametrize(
    "query",
    ["min_plies=1", "min_plies=10", "min_plies=x", "rating=6", "rating=x", "rating=nan", "result=draw", "since=x"],
)
def test_read_form_with_a_wrong_value_raises_a_problem_that_names_it(query: str) -> None:
    with pytest.raises(Problem) as raised:
        read_form(make_mocked_request("GET", f"/?{query}"), _Query)
    assert (raised.value.kind, raised.value.field) == ("bad-request", query.partition("=")[0])


def test_form_names_are_the_fields_without_paging() -> None:
    assert form_names(_Query) == ("family", "player", "min_plies", "rating", "result", "since")
    assert form_names(_Query, ("limit", "after", "since"))[-1] == "result"
