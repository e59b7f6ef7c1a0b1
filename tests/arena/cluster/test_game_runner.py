"""The way of results: into the spool at the end of each game, or with the event without a spool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.cluster import game_runner
from arena.cluster.game_runner import BundlePlace, play_bundled
from arena.cluster.spool import Spool
from referee.game.record import GameRecord, RecordError, read_record
from referee.game.spec import BotSpec, GameSpec, PlannedGame
from referee.game.unplayed import void_record
from referee.rules.core import Termination
from tests.arena.field import record_of

BOTS = BotSpec("ada v1", ("./bot",)), BotSpec("bob v1", ("./bot",))
GAMES = [PlannedGame.of(GameSpec("loa", "standard", *BOTS, sequence=number)) for number in range(1, 5)]


class Slot:
    """A slot without bots; `voids` are its void games, `told` has its events."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self.voids: dict[str, Termination] = {}
        self.told: list[dict[str, Any]] = []
        self.played: list[str] = []
        self.place = BundlePlace(str(folder / "bundles"), str(folder / "unpacked"))
        monkeypatch.setattr(game_runner, "play_games", self.play_games)
        monkeypatch.setattr(game_runner, "emit", self.told.append)

    def play_games(self, games: Sequence[PlannedGame], wants_plies: bool) -> list[GameRecord]:
        self.played += [game.id for game in games]
        return [
            void_record(game, self.voids[game.id], "why") if game.id in self.voids else record_of(game)
            for game in games
        ]


@pytest.fixture
def slot(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Slot:
    return Slot(monkeypatch, tmp_path)


def test_a_result_is_in_the_spool_before_its_event(slot: Slot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spool, told = Spool(tmp_path / "spool"), list[dict[str, Any]]()

    def hear(event: dict[str, Any]) -> None:
        assert spool.read(event["game"]) == record_of(GAMES[len(told)])
        told.append(event)

    monkeypatch.setattr(game_runner, "emit", hear)
    assert play_bundled(GAMES, slot.place, True, spool.folder) == []
    assert told == [{"event": "finish", "game": game.id} for game in GAMES]


@pytest.mark.parametrize("has_spool", [True, False])
def test_without_a_spool_the_event_carries_the_record(slot: Slot, tmp_path: Path, has_spool: bool) -> None:
    folder = tmp_path / "spool"
    folder.write_text("in the way")  # stands for a full disk
    assert play_bundled(GAMES, slot.place, True, folder if has_spool else None) == []
    assert [read_record(event["record"]) for event in slot.told] == [record_of(game) for game in GAMES]


def test_the_result_has_void_attempts_and_ends_with_a_cancelled_game(slot: Slot, tmp_path: Path) -> None:
    slot.voids = {GAMES[0].id: Termination.SANDBOX_FAILED, GAMES[2].id: Termination.STOPPED}
    lines = play_bundled(GAMES, slot.place, True, tmp_path / "spool")
    assert [read_record(line).id for line in lines] == [GAMES[0].id, GAMES[2].id]
    assert slot.played == [game.id for game in GAMES[:3]]
    assert [event["game"] for event in slot.told] == [GAMES[1].id]
    assert Spool(tmp_path / "spool").ids() == [GAMES[1].id]


@pytest.mark.parametrize(
    "line",
    [
        "no record",
        record_of(GAMES[1]).line(),
        replace(record_of(GAMES[0]), id="../arena").line(),
        void_record(GAMES[0], Termination.WORKER_LOST, "why").line(),
    ],
    ids=["no record", "another game", "another folder", "void"],
)
def test_invalid_results_are_rejected(line: str, tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    with pytest.raises(RecordError):
        spool.take(line, GAMES[0].id, "far-1")
    assert not spool.folder.exists()
    spool.take(replace(record_of(GAMES[0]), worker="another worker").line(), GAMES[0].id, "far-1")
    assert spool.read(GAMES[0].id) == replace(record_of(GAMES[0]), worker="far-1")
