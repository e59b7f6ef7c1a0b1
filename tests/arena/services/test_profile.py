"""The public page of a user: the latest games, rating changes, and the wins against the strongest opponents."""

from __future__ import annotations

import pytest
from sqlalchemy import update
from sqlmodel import col

from arena.services import Arena, user
from arena.store.base.tables.bots import BotIdentity, Version
from arena.store.base.tables.games import Game, StoredHumanGame
from tests.arena.field import Field, record_of
from tests.arena.services.test_bot import rate


@pytest.fixture
def field(arena: Arena) -> Field:
    """Games that the first side has won; the bot ada belongs to eve, the others to zoe."""
    field, store = Field(arena.store), arena.store
    eve = store.users.add("eve", "author").id
    with store.writing() as session:
        session.execute(update(BotIdentity).where(col(BotIdentity.name) == "ada").values(owner_id=eve))
    for game in field.plan(24):
        store.results.commit(record_of(game, winner="first"))
    return field


def test_a_profile_has_the_latest_games_and_the_rating_changes(arena: Arena, field: Field) -> None:
    profile = user.profile(arena, "eve")
    assert len(profile.games) == user.MAX_GAMES
    assert all(field.versions[0].id in (game.first_id, game.second_id) for game in profile.games)
    numbers = [game.commit_number or 0 for game in profile.games]
    assert numbers == sorted(numbers, reverse=True)
    assert [change.number for change in profile.changes["loa"]] == list(range(1, 13))


def test_best_wins_are_one_each_against_the_strongest_opponents(arena: Arena, field: Field) -> None:
    ids = {version.name.partition(" ")[0]: version.id for version in field.versions}
    assert user.profile(arena, "eve").wins == [], "no opponent has a rank"
    rate(arena, {ids["bob"]: 20.0, ids["cleo"]: 30.0})
    wins = user.profile(arena, "eve").wins
    assert [(game.second, rating) for game, rating in wins] == [("cleo v1", 27.0), ("bob v1", 17.0)]
    assert all((game.first, game.winner) == ("ada v1", "first") for game, _ in wins)


def test_wins_against_own_bots_and_losses_are_no_best_wins(arena: Arena, field: Field) -> None:
    ids = {version.name.partition(" ")[0]: version.id for version in field.versions}
    rate(arena, {ids["bob"]: 20.0, ids["cleo"]: 30.0, ids["dan"]: 25.0, ids["ada"]: 40.0})
    assert {game.second for game, _ in user.profile(arena, "zoe").wins} == {"ada v1"}


def test_who_has_no_bots_has_an_empty_profile(arena: Arena, field: Field) -> None:
    arena.store.users.add("otto", "author")
    profile = user.profile(arena, "otto")
    assert (profile.games, profile.wins, profile.changes) == ([], [], {})


def test_records_sum_up_the_own_games_and_name_the_highest_level_that_was_beaten(arena: Arena) -> None:
    field, store = Field(arena.store, ("ada", "level-2", "level-5")), arena.store
    eve = store.users.add("eve", "author").id
    games = field.plan(12)
    for game in games:
        store.results.commit(record_of(game, winner="draw" if game.spec.second.name == "level-5 v1" else "first"))
    with store.writing() as session:
        for game in games:
            for side, bot in (("first", game.spec.first.name), ("second", game.spec.second.name)):
                if bot == "ada v1":  # as if eve had sat there
                    session.add(StoredHumanGame(game_id=game.id, user_id=eve, address="", side=side))
    names = [(game.spec.first.name, game.spec.second.name) for game in games]
    record = user.profile(arena, "eve").records["loa"]
    assert record.won == names.count(("ada v1", "level-2 v1"))
    assert record.drawn == names.count(("ada v1", "level-5 v1"))
    assert record.lost == sum(second == "ada v1" for _, second in names)
    assert record.level == 2


@pytest.mark.parametrize("is_newest", [True, False])
def test_of_many_versions_those_of_the_latest_games_are_searched(arena: Arena, field: Field, is_newest: bool) -> None:
    """600 versions more; the games are of the newest one, which has no rating, or of the oldest one, which has one."""
    player = arena.store.versions.of_bot_named("ada")[0].id
    with arena.store.writing() as session:
        template = session.get_one(Version, player).model_dump(exclude={"id"})
        made = [Version(**template | {"number": number, "name": f"ada v{number}"}) for number in range(2, 602)]
        session.add_all(made)
        session.flush()
        if is_newest:
            oldest, player = player, max(version.id or 0 for version in made)
            for side in (Game.first_id, Game.second_id):
                session.execute(update(Game).where(col(side) == oldest).values({side: player}))
    profile = user.profile(arena, "eve")
    assert len(profile.games) == user.MAX_GAMES
    assert all(player in (game.first_id, game.second_id) for game in profile.games)
