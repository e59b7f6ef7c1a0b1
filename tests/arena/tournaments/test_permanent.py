"""Permanent ladders: one for each family, joined by every checked bot."""

from __future__ import annotations

from datetime import UTC, datetime

from arena.store import Store
from arena.tournaments import lifecycle, permanent
from arena.tournaments.control import cancel
from tests.arena.field import Field

AT = datetime(2026, 1, 1, tzinfo=UTC)


def test_ensure_creates_one_ladder_for_each_family(sqlite_store: Store) -> None:
    Field(sqlite_store)
    (made,) = permanent.ensure(sqlite_store, ["loa"], "5+0.1", AT)
    assert (made.family, made.format, made.is_rated, made.priority) == ("loa", "ladder", True, permanent.PRIORITY)
    assert permanent.ensure(sqlite_store, ["loa"], "5+0.1", AT) == []
    assert [one.family for one in permanent.ensure(sqlite_store, ["loa", "tablut"], "5+0.1", AT)] == ["tablut"]
    assert [one.id for one in permanent.ladders(sqlite_store, ["loa"])] == [made.id]
    cancel(sqlite_store, made.id, AT)
    assert len(permanent.ensure(sqlite_store, ["loa"], "5+0.1", AT)) == 1


def test_a_permanent_ladder_welcomes_every_new_bot(sqlite_store: Store) -> None:
    field = Field(sqlite_store)
    (made,) = permanent.ensure(sqlite_store, ["loa"], "5+0.1", AT)
    assert lifecycle.plan(sqlite_store, made.id).planned > 0
    newcomer = field.version("eve")
    lifecycle.advance(sqlite_store, made.id, ahead=100)
    names = {one.name for one in sqlite_store.tournaments.entries(made.id)}
    assert newcomer.name in names
    assert len(names) == 5
    games = sqlite_store.games.of_tournament(made.id).items
    assert any(newcomer.name in (game.first, game.second) for game in games)
    assert lifecycle.advance(sqlite_store, made.id, ahead=1000).state == "running"
    counts = {name: sum(name in (one.first, one.second) for one in games) for name in names}
    assert max(counts.values()) <= 5 * permanent.GAMES_PER_BOT
