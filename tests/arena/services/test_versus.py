"""Two bots head to head."""

from __future__ import annotations

import pytest

from arena.documents.bot import MeetingsQuery
from arena.errors import NotFoundError
from arena.services import Arena, versus
from tests.arena.field import Field


def test_read_returns_the_games_between_two_bots(arena: Arena) -> None:
    field = Field(arena.store)
    played = [one for one in field.play(12) if {one.first, one.second} == {"ada v1", "bob v1"}]
    assert played
    found = versus.read(arena, "ada", "bob", MeetingsQuery(mine="ada v1"))
    assert found.versions == (["ada v1"], ["bob v1"])
    assert [line.id for line in found.games.items] == [one.id for one in reversed(played)]
    assert sum(one.count for one in found.tallies) == len(played)
    assert versus.games(arena, "ada", "bob", MeetingsQuery(limit=2)).items == found.games.items[:2]


def test_games_without_a_version_are_none(arena: Arena) -> None:
    field = Field(arena.store)
    field.play(4)
    arena.store.bots.add("idle", field.user_id)
    assert versus.read(arena, "ada", "idle", MeetingsQuery()).tallies == []
    assert versus.games(arena, "ada", "idle", MeetingsQuery()).items == []


@pytest.mark.parametrize(("other", "theirs"), [("eve", None), ("bob", "bob v7"), ("bob", "ada v1")])
def test_games_with_an_unknown_bot_or_version_are_not_found(arena: Arena, other: str, theirs: str | None) -> None:
    Field(arena.store)
    with pytest.raises(NotFoundError):
        versus.games(arena, "ada", other, MeetingsQuery(theirs=theirs))
