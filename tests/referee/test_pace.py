"""How long games take, and how many pairs go to a slot together: of `referee.dispatch`'s tests, what no game shows."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace

import pytest

from referee import pace
from referee.pace import LOT_MS, Pace
from referee.record import GameRecord
from referee.rules.core import Kind
from referee.spec import PlannedGame
from tests.referee.test_dispatch import done, lasting, planned_games


def record(game: PlannedGame, ms: int, kind: Kind = Kind.RULES) -> GameRecord:
    return replace(lasting(game, ms), kind=kind)


@pytest.mark.parametrize("kind", [Kind.FORFEIT, Kind.VOID])
def test_a_forfeit_does_not_say_how_long_two_bots_play(kind: Kind, game: Callable[..., PlannedGame]) -> None:
    one, *_ = planned_games(game, 1)
    found = Pace()
    found.note(record(one, 0, kind))
    assert (found.expected_ms(one), found.most_pairs) == (LOT_MS, 1)
    found.note(record(one, 7))
    assert (found.expected_ms(one), found.most_pairs) == (7, LOT_MS // 14)
    found.note(record(one, 3, kind))
    assert found.expected_ms(one) == 7
    found.clear()
    assert found.expected_ms(one) == LOT_MS


def test_a_game_with_a_remote_bot_is_never_expected_to_be_short(game: Callable[..., PlannedGame]) -> None:
    one, *_ = planned_games(game, 1)
    found = Pace()
    found.note(record(one, 1))
    away = replace(one, spec=replace(one.spec, second=replace(one.spec.second, place="remote")))
    assert (found.expected_ms(one), found.expected_ms(away)) == (1, LOT_MS)
    pairs = deque([[one, one], [away], [one, one]])
    assert [len(found.lot(pairs, lambda each: each)) for _ in range(4)] == [2, 1, 2, 0]


def test_who_played_long_ago_is_forgotten(game: Callable[..., PlannedGame], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "_MOST", 3)
    one, *_ = planned_games(game, 1)
    found = Pace()
    for name in ("a", "b", "c", "d"):
        found.note(replace(done(one), first=name, started="2026-01-01T00:00:00Z", finished="2026-01-01T00:00:00Z"))
    known = [replace(one, spec=replace(one.spec, first=replace(one.spec.first, name=name))) for name in "abcd"]
    assert [found.expected_ms(each) < LOT_MS for each in known] == [False, False, False, True]
