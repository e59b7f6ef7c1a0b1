"""`arena ratings rebuild`, `arena verify` and `arena referee` as commands."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import text

from arena.cli.terminal.run import run
from arena.store import Store
from referee.game.record import GameRecord
from referee.game.spec import PlannedGame
from referee.play.play import play
from referee.play.roster import Roster
from referee.sandbox import Sandbox
from tests.arena.cluster.processes import wait
from tests.arena.coordinator.stage import Dice, Stage
from tests.conftest import INTERPRETED
from tests.referee.conftest import BLACK, HERE, WHITE


@pytest.fixture
def folder(sqlite_store: Store, tmp_path: Path) -> Path:
    """Return a data folder with a tournament of real games."""
    stage = Stage(sqlite_store, tmp_path, ())
    for name, moves in {"black": BLACK, "white": WHITE}.items():
        command = [sys.executable, "-S", "-E", str(HERE / "scripted.py"), *moves, "resign"]
        stage.ids[name] = stage.bot(name, command=command)
    number = stage.create(games=2, time_control="100+0", entries={"bots": ["black", "white"]})
    with Roster(Sandbox("none")) as roster:

        def reply(game: PlannedGame) -> GameRecord:
            return play(game, roster)

        stage.play(number, Dice(reply))
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], code: int, *words: str) -> Any:
    """Check the exit code of a command, and return its JSON."""
    capsys.readouterr()
    assert run([*words, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def test_ratings_and_games_are_checked_and_repaired(
    folder: Path, sqlite_store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ("--data", str(folder))
    assert said(capsys, 0, "ratings", "rebuild", "--check", *where) == {
        "schema": 1,
        "games": 2,
        "pools": ["loa"],
        "problems": [],
    }
    verdict = said(capsys, 0, "verify", "--all", *where)
    assert verdict == {"schema": 1, "checked": 2, "failed": 0, "failures": []}
    with sqlite_store.engine.begin() as connection:
        connection.execute(text("UPDATE ratings SET mu = mu + 1e-9 WHERE version_id = 1"))
    assert len(said(capsys, 1, "ratings", "rebuild", "--check", *where)["problems"]) == 1
    assert said(capsys, 0, "ratings", "rebuild", *where)["games"] == 2
    assert said(capsys, 0, "ratings", "rebuild", "--check", *where)["problems"] == []


def test_verify_names_each_wrong_game(folder: Path, sqlite_store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    from arena.store.games.commit import pack

    where = ("--data", str(folder))
    first, second = sorted(line.id for line in sqlite_store.games.latest().items)
    assert said(capsys, 0, "verify", first, second, *where)["checked"] == 2
    assert said(capsys, 0, "verify", "--tournament", "1", *where)["checked"] == 2
    assert said(capsys, 0, "verify", *where)["checked"] == 2
    wrong = sqlite_store.games.record(first)
    wrong = replace(wrong, final_position="x")
    with sqlite_store.engine.begin() as connection:
        connection.execute(
            text("UPDATE records SET data = :data WHERE game_id = :id"), {"data": pack(wrong), "id": first}
        )
    assert run(["verify", "--all", *where]) == 1
    (fault,) = [line for line in capsys.readouterr().err.splitlines() if "final position" in line]
    assert fault.count(first) == 1
    verdict = said(capsys, 1, "verify", "--all", *where)
    assert [failure["game"] for failure in verdict["failures"]] == [first]
    assert said(capsys, 1, "verify", "--all", "--void", *where)["failed"] == 1
    assert sqlite_store.games.get(first).state == "planned"
    assert sqlite_store.tournaments.get(1).state == "running"
    assert [void.termination for void in sqlite_store.voids.of(first)] == ["worker-wrong"]
    assert sqlite_store.ratings.check() == []
    assert said(capsys, 0, "verify", "--all", "--void", *where)["checked"] == 1
    assert run(["verify", "nosuchgame", *where]) == 3
    assert run(["verify", first, "--all", *where]) == 2


def test_a_missing_data_folder_is_reported_with_a_hint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["ratings", "rebuild"], ["verify"]):
        assert run([*words, "--data", str(tmp_path / "none")]) == 3
        assert "arena init" in capsys.readouterr().err
    assert not (tmp_path / "none").exists()


def test_the_coordinator_plays_due_games_and_stops_on_sigterm(sqlite_store: Store, tmp_path: Path) -> None:
    stage = Stage(sqlite_store, tmp_path, ())
    for name in ("one", "two"):
        stage.bot(name, command=[sys.executable, "-S", "-E", str(HERE / "scripted.py"), "resign"])
    number = stage.create(games=2, time_control="100+0")
    words = [sys.executable, "-m", "arena", "referee", "--data", str(tmp_path), "--executor", "local:1"]
    words += ["--metrics", "0"]
    weak = {**os.environ, **INTERPRETED, "ARENA_ALLOW_WEAK_SANDBOX": "1"}
    process = subprocess.Popen([*words, "--sandbox", "none"], stderr=subprocess.PIPE, text=True, env=weak)
    try:
        assert process.stderr is not None
        while not (line := process.stderr.readline()).startswith("metrics: "):
            assert line, process.wait()
        wait(lambda: process.poll() is not None or stage.tournament(number).state == "finished", "the end")
        assert process.poll() is None, process.communicate()[1]
        with urllib.request.urlopen(line.removeprefix("metrics: ").strip(), timeout=100) as answer:
            samples = {
                (sample.name, sample.labels.get("termination_class")): sample.value
                for family in text_string_to_metric_families(answer.read().decode())
                for sample in family.samples
            }
        assert (
            samples["arena_games_recorded_total", "forfeit"] + samples.get(("arena_games_recorded_total", "rules"), 0)
            == 2
        )
        assert (samples["arena_slots", None], samples["arena_referee_acting", None]) == (1, 1)
        assert (samples["arena_referee_up", None], samples["arena_database_damaged", None]) == (1, 0)
        assert samples["arena_commit_seconds_count", None] == samples["arena_game_seconds_count", None] == 2
        process.send_signal(signal.SIGINT)
        _, talk = process.communicate(timeout=300)
    finally:
        process.kill()
    assert process.returncode == 0, talk
    assert "acting" in talk
    stage.check_exactly_once(number, 2)
