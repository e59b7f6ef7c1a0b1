"""Options of commands that follow from queries."""

from __future__ import annotations

import argparse
from dataclasses import MISSING, dataclass
from typing import Literal

import pytest

from arena.cli.terminal.fields import PAGING, add_fields, read_filters
from arena.documents import words
from arena.documents.query import PageQuery, described


@dataclass(frozen=True, slots=True, kw_only=True)
class _Query(PageQuery):
    family: str | None = described("a family", words.FAMILY)
    min_plies: int | None = described("at least 5 % of them", {"ge": 2, "le": 9}, group="of analysed games")
    result: Literal["first", "none"] | None = described("the winner")
    rating: float | None = described("the strength")
    retired: bool = described("retired ones too", default=False)
    source: str = described("the collection", default=MISSING, metavar="NAME")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    add_fields(parser, _Query, without=PAGING)
    return parser


def test_read_options_returns_the_given_values_of_all_fields_but_paging() -> None:
    given = "--family LOA --min-plies 3 --result none --rating 2.5 --retired --source x"
    assert read_filters(_parser().parse_args(given.split()), _Query) == {
        **{"family": "loa", "min_plies": 3, "result": "none"},
        **{"rating": 2.5, "retired": True, "source": "x"},
    }
    bare = read_filters(_parser().parse_args(["--source", "x"]), _Query)
    assert bare == dict.fromkeys(bare) | {"retired": False, "source": "x"}


@pytest.mark.parametrize("wrong", ["--min-plies 1", "--min-plies 10", "--result draw", "--rating x", "--limit 3", ""])
def test_add_options_rejects_what_the_query_does_not_allow(wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    given = [*wrong.split(), *(["--source", "x"] if wrong else [])]
    with pytest.raises(SystemExit):
        _parser().parse_args(given)
    assert "error" in capsys.readouterr().err


def test_add_options_writes_help_groups_and_values() -> None:
    text = _parser().format_help()
    assert "of analysed games:" in text
    assert "at least 5 % of them" in text
    assert "--source NAME" in text
