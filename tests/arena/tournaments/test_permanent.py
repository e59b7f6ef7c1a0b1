"""Permanent ladders: one for each family, joined by every checked bot."""

from __future__ import annotations

from datetime import UTC, datetime

from arena.store import Store
from arena.tournaments import creation, lifecycle
from arena.tournaments.lifecycle import cancel
from tests.arena.field import Field, record_of

AT = datetime(2026, 1, 1, tzinfo=UTC)


def test_ensure_creates_one_ladder_for_each_family(sqlite_store: Store) -> None:
    Field(sqlite_store)
    (made,) = creation.ensure_ladders(sqlite_store, ["loa"], "5+0.1", AT)
    assert (made.family, made.format, made.is_rated, made.priority) == ("loa", "ladder", True, creation.PRIORITY)
    assert creation.ensure_ladders(sqlite_store, ["loa"], "5+0.1", AT) == []
    assert [ladder.family for ladder in creation.ensure_ladders(sqlite_store, ["loa", "tablut"], "5+0.1", AT)] == [
        "tablut"
    ]
    assert [ladder.id for ladder in creation.permanent_ladders(sqlite_store, ["loa"])] == [made.id]
    cancel(sqlite_store, made.id, AT)
    assert len(creation.ensure_ladders(sqlite_store, ["loa"], "5+0.1", AT)) == 1


def test_a_permanent_ladder_welcomes_every_new_bot(sqlite_store: Store) -> None:
    field = Field(sqlite_store)
    (made,) = creation.ensure_ladders(sqlite_store, ["loa"], "5+0.1", AT)
    assert lifecycle.plan(sqlite_store, made.id).planned > 0
    newcomer = field.version("eve")
    lifecycle.advance(sqlite_store, made.id, ahead=100)
    names = {entry.name for entry in sqlite_store.tournaments.entries(made.id)}
    assert newcomer.name in names
    assert len(names) == 5
    games = sqlite_store.games.of_tournament(made.id).items
    assert any(newcomer.name in (game.first, game.second) for game in games)
    assert lifecycle.advance(sqlite_store, made.id, ahead=1000).state == "running"
    counts = {name: sum(name in (game.first, game.second) for game in games) for name in names}
    assert max(counts.values()) <= 5 * creation.GAMES_PER_BOT


def test_a_new_bot_of_a_ladder_plays_before_the_games_planned_earlier(sqlite_store: Store) -> None:
    field = Field(sqlite_store)
    (made,) = creation.ensure_ladders(sqlite_store, ["loa"], "5+0.1", AT)
    lifecycle.plan(sqlite_store, made.id)
    queue = sqlite_store.queue
    for pending in queue.waiting(made.id, 16):
        sqlite_store.results.commit(record_of(pending.game))
    lifecycle.advance(sqlite_store, made.id)
    running, tried, *_ = (pending.game.id for pending in queue.waiting(made.id, 16))
    queue.hand_out([running, tried], "coordinator")
    queue.start(running, tried)
    queue.give_back(ids=[tried])
    newcomer = field.version("eve").name
    lifecycle.advance(sqlite_store, made.id)
    waiting = queue.waiting(made.id, 16)
    assert waiting[0].game.id == tried, "an interrupted game is not planned again"
    assert newcomer in (waiting[1].game.spec.first.name, waiting[1].game.spec.second.name)
    assert queue.open() == {"running": 1, "planned": 15}
    lifecycle.advance(sqlite_store, made.id)
    assert queue.waiting(made.id, 16) == waiting, "only a new version changes the plan"
