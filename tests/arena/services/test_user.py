"""The public profile of a user."""

from __future__ import annotations

import pytest

from arena.services import Arena, user
from arena.store.base.tables.ratings import VersionRating
from referee.bot.file import BotFile
from referee.ratings.trueskill import PROVISIONAL_GAMES
from tests.arena.services.conftest import Person


def rate(arena: Arena, owner: int, pool: str, name: str, conservative: float, *, is_provisional: bool = False) -> None:
    """Add a bot with a rating in a pool."""
    bot = arena.store.bots.add(name, owner)
    version = arena.store.versions.add(bot.id or 0, BotFile(("./bot",), families=("loa",)), bundle="ab" * 32)
    games = PROVISIONAL_GAMES - is_provisional
    rating = VersionRating(
        pool=pool,
        version_id=version.id or 0,
        mu=conservative + 3,
        sigma=1.0,
        conservative=conservative,
        games=games,
        wins=games,
        draws=0,
        losses=0,
    )
    with arena.store.writing() as session:
        session.add(rating)


def test_best_of_each_pool_prefers_ranked_bots(arena: Arena, person: Person) -> None:
    owner, other = person("ada").user_id, person("bob").user_id
    rate(arena, owner, "loa", "weak", 10.0)
    rate(arena, owner, "loa", "new", 30.0, is_provisional=True)
    rate(arena, owner, "loa", "strong", 20.0)
    rate(arena, owner, "abalone", "first", 5.0, is_provisional=True)
    rate(arena, owner, "abalone", "second", 7.0, is_provisional=True)
    rate(arena, other, "loa", "foreign", 40.0)
    best = [(line.pool, line.name) for line in user.profile(arena, "ada").best]
    assert best == [("abalone", "second v1"), ("loa", "strong v1")]


def test_bots_of_a_profile_continue_on_further_pages(
    arena: Arena, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(user, "MAX_BOTS", 2)
    owner = person("ada").user_id
    for name in ("one", "three", "two"):
        arena.store.bots.add(name, owner)
    first = user.profile(arena, "ada").bots
    rest = user.profile(arena, "ada", first.next).bots
    assert [bot.name for bot in first.items] == ["one", "three"]
    assert ([bot.name for bot in rest.items], rest.next) == (["two"], None)
