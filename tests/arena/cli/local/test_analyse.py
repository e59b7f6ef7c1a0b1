"""`arena analyse`: a game in a file and one in the database."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arena.__main__ import main
from arena.cli.terminal.exit import Exit
from arena.store import Store
from referee.rules import load
from tests.arena.analysis.conftest import game_of
from tests.arena.analysis.test_game_analysis import scripted
from tests.arena.field import Field


def test_a_file_is_analysed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = game_of(load("loa").settle(), 4)
    file = tmp_path / "game.json"
    file.write_text(record.line())
    bot = " ".join(scripted(tmp_path, "400 if plies == 3 else 0").command)
    words = ["analyse", str(file), "--nodes", "10", "--bot", bot, "--sandbox", "none"]
    assert main([*words, "--json"]) == Exit.DONE
    analysis = json.loads(capsys.readouterr().out)
    assert {"game", "family", "nodes", "plies", "blunders", "accuracy"} <= set(analysis)
    assert [ply["mark"] for ply in analysis["plies"]] == ["", "", "??", "??"]
    assert {"number", "side", "move", "score", "winning_chances", "best", "loss", "mark"} <= set(analysis["plies"][0])
    assert main(words) == Exit.DONE
    out = capsys.readouterr().out
    assert "ada: 1 blunders, accuracy" in out
    assert main(["analyse", str(file), "--bot", "sample:nobody"]) == Exit.USAGE
    file.write_text("{}")
    assert main(["analyse", str(file)]) == Exit.USAGE


def test_what_is_in_the_database_is_kept(
    sqlite_store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    game = Field(sqlite_store).play(1)[0]
    bot = " ".join(scripted(tmp_path, "0").command)
    words = ["analyse", game.id, "--nodes", "10", "--bot", bot, "--sandbox", "none", "--data", str(tmp_path)]
    assert main(words) == Exit.DONE
    kept = sqlite_store.analyses.get(game.id)
    assert kept is not None
    assert (kept["engine"], kept["nodes"], len(kept["plies"])) == ("scripted", 10, len(game.moves))
    assert main(["analyse", "nothing", "--data", str(tmp_path)]) == Exit.NOT_FOUND
