"""Two bots head to head."""

from __future__ import annotations

import pytest

from arena.errors import NotFoundError
from arena.services import Arena, versus
from tests.arena.field import Field


def test_read_returns_the_games_between_two_bots(arena: Arena) -> None:
    field = Field(arena.store)
    played = [one for one in field.play(12) if {one.first, one.second} == {"ada v1", "bob v1"}]
    assert played
    mine, theirs = versus.versions(arena, "ada"), versus.versions(arena, "bob")
    assert (list(mine), list(theirs)) == (["ada v1"], ["bob v1"])
    found = versus.read(arena, list(mine.values()), list(theirs.values()))
    assert [line.id for line in found.games.items] == [one.id for one in reversed(played)]
    assert sum(one.count for one in found.tallies) == len(played)
    assert versus.read(arena, [], list(theirs.values())).games.items == []
    with pytest.raises(NotFoundError):
        versus.versions(arena, "eve")
