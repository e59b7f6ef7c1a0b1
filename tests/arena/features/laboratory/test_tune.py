"""`arena tune` with real games: values move, a run goes on, one process plays with one value after another."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from arena.__main__ import main
from arena.cli.local.self_play import claim
from arena.cli.terminal.exit import CommandError
from arena.features.laboratory.tuning import PAIRS
from referee.machine.run_folder import RunFolder
from tests.arena.features.laboratory import toy
from tests.conftest import INTERPRETED

PLAYED = 8
"""The pairs of a run."""


@pytest.fixture(autouse=True)
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels as ordinary Python."""
    for name, value in INTERPRETED.items():
        monkeypatch.setenv(name, value)


def tuned(folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, Any]:
    """The exit code and what is printed."""
    bot = f"{sys.executable} {toy.__file__} {folder.parent / 'processes'}"
    words = ["tune", bot, "--family", "loa", "--parameter", "Skill:0:10:4:3", "--games", str(2 * PLAYED)]
    words += [
        "--tc",
        "nodes:1",
        "--openings",
        "none",
        "--max-plies",
        "2",
        "--sandbox",
        "none",
        "--learning-rate",
        "0.2",
    ]
    code = main([*words, "--out", str(folder), "--json"])
    return code, json.loads(capsys.readouterr().out or "null")


def test_values_go_where_games_are_won(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, result = tuned(tmp_path / "run", capsys)
    assert code == 0
    lines = [json.loads(line) for line in (tmp_path / "run" / PAIRS).read_text().splitlines()]
    assert [line["pair"] for line in lines] == list(range(PLAYED))
    for line in lines:
        skilled = [line[name][0] >= toy.ENOUGH for name in ("plus", "minus")]
        assert line["points"] == 1 + skilled[0] - skilled[1]
    (parameter,) = result["parameters"]
    assert parameter["value"] > parameter["start"]
    assert result["bot"].endswith(f";option.Skill={parameter['value']}")
    assert result["games"] == result["of"] == 2 * PLAYED
    assert sum(result["pentanomial"]) == PLAYED
    assert "Skill: 4 to" in (tmp_path / "run" / "curves.html").read_text()
    introductions, seats = 2, 2
    assert len((tmp_path / "processes").read_text().splitlines()) == introductions + seats

    (tmp_path / "run" / PAIRS).write_text("".join(json.dumps(line) + "\n" for line in lines[:5]) + '{"pair"')
    assert tuned(tmp_path / "run", capsys) == (0, result)


def test_a_folder_takes_one_run(tmp_path: Path) -> None:
    with RunFolder(tmp_path) as folder:
        claim(folder, {"seed": 1, "games": 2})
    with RunFolder(tmp_path) as folder:
        claim(folder, {"seed": 1, "games": 2})
    with RunFolder(tmp_path) as folder, pytest.raises(CommandError, match="different games, seed; give the same"):
        claim(folder, {"seed": 2, "games": 4})
