"""The way of results: into the spool at the end of each game, or with the event without a spool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.cluster import game_runner
from arena.cluster.game_runner import BundlePlace, play_bundled
from arena.cluster.spool import Arrival, Spool
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
        assert spool.read(event["game"]) == Arrival(record_of(GAMES[len(told)]))
        told.append(event)

    monkeypatch.setattr(game_runner, "emit", hear)
    play_bundled(GAMES, slot.place, True, spool.folder)
    assert told == [{"event": "finish", "game": game.id, "attempt": 1} for game in GAMES]


@pytest.mark.parametrize("has_spool", [True, False])
def test_without_a_spool_the_event_carries_the_record(slot: Slot, tmp_path: Path, has_spool: bool) -> None:
    folder = tmp_path / "spool"
    folder.write_text("in the way")  # stands for a full disk
    play_bundled(GAMES, slot.place, True, folder if has_spool else None)
    assert [read_record(event["record"]) for event in slot.told] == [record_of(game) for game in GAMES]


def test_void_attempts_are_in_the_spool_too_and_a_cancelled_game_ends_the_job(slot: Slot, tmp_path: Path) -> None:
    slot.voids = {GAMES[0].id: Termination.SANDBOX_FAILED, GAMES[2].id: Termination.STOPPED}
    games = [replace(GAMES[0], attempt=3), *GAMES[1:]]
    play_bundled(games, slot.place, True, tmp_path / "spool")
    assert slot.played == [game.id for game in GAMES[:3]]
    assert [(event["game"], event["attempt"]) for event in slot.told] == [(game.id, game.attempt) for game in games[:3]]
    spool = Spool(tmp_path / "spool")
    assert set(spool.names()) == {f"{GAMES[0].id}.3", GAMES[1].id, f"{GAMES[2].id}.1"}
    arrival = spool.read(f"{GAMES[0].id}.3")
    assert arrival
    assert (arrival.attempt, arrival.record.termination) == (3, Termination.SANDBOX_FAILED)


@pytest.mark.parametrize(
    "line",
    [
        "no record",
        record_of(GAMES[1]).line(),
        replace(record_of(GAMES[0]), id="../arena").line(),
    ],
    ids=["no record", "another game", "another folder"],
)
def test_invalid_results_are_rejected(line: str, tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    with pytest.raises(RecordError):
        spool.take(line, GAMES[0].id, "far-1", 1)
    assert not spool.folder.exists()
    spool.take(replace(record_of(GAMES[0]), worker="another worker").line(), GAMES[0].id, "far-1", 1)
    assert spool.read(GAMES[0].id) == Arrival(replace(record_of(GAMES[0]), worker="far-1"))
