"""When a worker without a spool tells the results of a job that goes on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from arena import worker
from arena.worker import BundlePlace, play_bundled
from referee.record import GameRecord
from referee.spec import BotSpec, GameSpec, PlannedGame
from tests.arena.field import record_of


@pytest.mark.parametrize(
    ("is_watched", "takes_s", "told"),
    [
        (True, [0.0, 0.0, 0.0], [1, 2, 3]),
        (False, [0.0, 0.1, 0.1], []),
        (False, [0.1, 0.1, 0.1], [0, 0, 3]),
        (False, [0.3, 0.1, 0.1], [1, 1, 1]),
        (False, [0.3, 0.1, 9.0], [1, 1, 3]),
    ],
)
def test_results_of_games_that_nobody_watches_are_told_together(
    is_watched: bool, takes_s: list[float], told: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[dict[str, Any]] = []
    counts: list[int] = []
    clock = [100.0]

    def play_games(
        games: Sequence[PlannedGame], wants_plies: bool, on_result: Callable[[GameRecord], None]
    ) -> list[GameRecord]:
        assert wants_plies == is_watched
        records = [record_of(game) for game in games]
        for record, seconds in zip(records, takes_s, strict=False):
            clock[0] += seconds
            on_result(record)
            counts.append(len(said))
        return records

    monkeypatch.setattr(worker, "play_games", play_games)
    monkeypatch.setattr(worker, "emit", said.append)
    monkeypatch.setattr(worker.time, "monotonic", lambda: clock[0])
    bots = BotSpec("ada v1", ("./bot",)), BotSpec("bob v1", ("./bot",))
    games = [PlannedGame.of(GameSpec("loa", "standard", *bots, sequence=number)) for number in range(1, 5)]
    place = BundlePlace(str(tmp_path / "bundles"), str(tmp_path / "unpacked"))
    assert [record.id for record in play_bundled(games, place, is_watched)] == [game.id for game in games]
    assert counts == (told or [0, 0, 0])
    assert [event["game"] for event in said] == [game.id for game in games[: len(said)]]
