"""Lists of games: their order without a request for another."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from aiohttp.test_utils import make_mocked_request

from arena.pages import html_table
from arena.store import Store
from tests.arena.field import START, Field


@pytest.mark.parametrize(("query", "expected"), [("", [2, 0, 1]), ("?games=finished_at", [1, 0, 2])])
def test_results_are_ordered_by_their_end_not_by_their_commit(
    sqlite_store: Store, query: str, expected: list[int]
) -> None:
    played = [sqlite_store.games.get(one.id) for one in Field(sqlite_store).play(3)]
    ends = (1, 0, 2)
    lines = [replace(one, finished_at=START + timedelta(seconds=at)) for one, at in zip(played, ends, strict=True)]
    table = html_table.sort_games(make_mocked_request("GET", f"/games{query}"), lines)
    assert [lines.index(one) for one in table.rows] == expected


def test_a_game_without_moves_comes_last_and_is_grey(sqlite_store: Store) -> None:
    played = [sqlite_store.games.get(one.id) for one in Field(sqlite_store).play(3)]
    lines = [replace(one, finished_at=START + timedelta(seconds=at)) for at, one in enumerate(played)]
    lines[2] = replace(lines[2], plies=0)
    table = html_table.sort_games(make_mocked_request("GET", "/games"), lines)
    assert [lines.index(one) for one in table.rows] == [1, 0, 2]
    assert [table.css(one).endswith(" unplayed") for one in table.rows] == [False, False, True]
