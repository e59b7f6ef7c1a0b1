"""Two bots head to head."""

from __future__ import annotations

import pytest

from arena.documents.bot import MeetingsQuery
from arena.documents.rating import ScoreTables
from arena.errors import NotFoundError
from arena.services import Arena, bot
from tests.arena.field import Field


def test_read_returns_the_games_between_two_bots(arena: Arena) -> None:
    field = Field(arena.store)
    played = [game for game in field.play(12) if {game.first, game.second} == {"ada v1", "bob v1"}]
    assert played
    meetings = bot.head_to_head(arena, "ada", "bob", MeetingsQuery(mine="ada v1"))
    assert meetings.versions == (["ada v1"], ["bob v1"])
    assert [line.id for line in meetings.games.items] == [game.id for game in reversed(played)]
    assert sum(score.games for score in meetings.scores.endings.values()) == len(played)
    assert bot.meetings(arena, "ada", "bob", MeetingsQuery(limit=2)).items == meetings.games.items[:2]


def test_games_without_a_version_are_none(arena: Arena) -> None:
    field = Field(arena.store)
    field.play(4)
    arena.store.bots.add("idle", field.user_id)
    assert bot.head_to_head(arena, "ada", "idle", MeetingsQuery()).scores == ScoreTables()
    assert bot.meetings(arena, "ada", "idle", MeetingsQuery()).items == []


@pytest.mark.parametrize(("other", "theirs"), [("eve", None), ("bob", "bob v7"), ("bob", "ada v1")])
def test_games_with_an_unknown_bot_or_version_are_not_found(arena: Arena, other: str, theirs: str | None) -> None:
    Field(arena.store)
    with pytest.raises(NotFoundError):
        bot.meetings(arena, "ada", other, MeetingsQuery(theirs=theirs))
