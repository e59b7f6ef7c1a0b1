"""The first-move advantage in a rating pool."""

from __future__ import annotations

import pytest

from arena.services import Arena, leaderboard
from arena.services import arena as arena_module
from tests.arena.field import Field, record_of


def test_advantage_is_fitted_to_games_of_the_pool(arena: Arena) -> None:
    field = Field(arena.store)
    assert arena.first_move_advantages.of(arena.store, "loa", 0) is None
    for number, game in enumerate(field.plan(100)):
        arena.store.results.commit(record_of(game, winner="second" if number % 5 in (0, 3) else "first"))
    advantage = arena.first_move_advantages.of(arena.store, "loa", 100)
    assert advantage is not None
    assert advantage.is_sure
    assert 30 < advantage.elo < 150
    assert 0 < advantage.error < advantage.elo
    assert arena.first_move_advantages.of(arena.store, "tablut", 1) == arena_module.FirstMoveAdvantage(
        0.0, 0.0, is_sure=False
    )


def test_large_pool_has_no_advantage(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    Field(arena.store).play(8)
    assert arena.first_move_advantages.of(arena.store, "loa", arena_module.MAX_GAMES) is not None
    assert arena.first_move_advantages.of(arena.store, "loa", 2 * arena_module.MAX_GAMES) is None
    assert arena.first_move_advantages.of(arena.store, "loa", 8) is not None
    monkeypatch.setattr(arena_module, "MAX_VERSIONS", 3)
    assert arena.first_move_advantages.of(arena.store, "loa", 9) is None


def test_grown_pool_is_fitted_again(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    Field(arena.store).play(8)
    fitted: list[int] = []
    monkeypatch.setattr(arena_module, "_fitted", lambda store, pool, games: fitted.append(games))
    leaderboard.read_ahead(arena)
    for games in (8, 100, 101, 102, 103, 99):
        arena.first_move_advantages.of(arena.store, "loa", games)
    assert fitted == [8, 100, 103, 99]
