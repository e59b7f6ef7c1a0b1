"""Places in the queues of checks and of first rated games, and how long they take."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import update
from sqlmodel import col

from arena.clock import now
from arena.services import Arena, submission
from arena.store.base.tables.games import Game
from arena.store.base.tables.tournaments import Tournament
from referee.bot.file import BotFile
from tests.arena.field import Field


def test_a_check_has_its_place_and_the_usual_time(arena: Arena) -> None:
    field = Field(arena.store)
    bot = arena.store.bots.add("newcomer", field.user_id)
    rows = [
        arena.store.versions.add(bot.id or 0, BotFile(("./bot",), families=("loa",)), bundle=f"{number:02}" * 32)
        for number in range(3)
    ]
    assert [submission.place_of_check(arena, row.id or 0).number for row in rows] == [1, 2, 3]
    assert submission.place_of_check(arena, rows[0].id or 0).seconds is None
    arena.store.checks.claim()
    assert submission.place_of_check(arena, rows[2].id or 0).number == 3, "one that is checked is still before it"
    arena.store.checks.conclude(rows[0].id or 0, report={}, variants={"loa": ["standard"]}, capabilities={})
    place = submission.place_of_check(arena, rows[2].id or 0)
    assert (place.number, place.tournament_id) == (2, 0)
    assert place.seconds is not None
    assert 0 <= place.seconds < 60


def test_a_first_game_waits_for_the_planned_ones_before_it_at_the_share_of_its_tournament(arena: Arena) -> None:
    field = Field(arena.store)
    field.play(20)
    other = field.add_tournament()
    field.plan(6, first_sequence=21)
    field.plan(4, other.id)
    with arena.store.writing() as session:  # the last of 20 games ended now, the first 19 minutes ago
        for number in range(20):
            ended = now() - timedelta(minutes=19 - number)
            session.execute(
                update(Game)
                .where(col(Game.tournament_id) == field.tournament_id, col(Game.sequence) == number + 1)
                .values(finished_at=ended)
            )
        session.execute(update(Tournament).where(col(Tournament.id) == other.id).values(settings={"priority": 10}))
    assert submission.shares(arena) == {field.tournament_id: 0.2, other.id: 0.8}
    for version in field.versions:
        place = submission.place_of_first_game(arena, version.id or 0)
        assert place is not None
        assert place.seconds is not None
        share = submission.shares(arena)[place.tournament_id]
        assert place.seconds == pytest.approx(place.number / share * 19 * 60 / 20, rel=0.01)
    places = {row.name: submission.place_of_first_game(arena, row.id or 0) for row in field.versions}
    first = places[field.games(1, first_sequence=21)[0].spec.first.name]
    assert first is not None
    assert first.number == 1


def test_a_version_without_planned_games_has_no_place(arena: Arena) -> None:
    field = Field(arena.store)
    assert submission.place_of_first_game(arena, field.versions[0].id or 0) is None
    assert submission.shares(arena) == {}
    field.plan(2)
    place = submission.place_of_first_game(arena, field.versions[1].id or 0)
    assert place is not None
    assert place.seconds is None, "no game tells how long one takes"
