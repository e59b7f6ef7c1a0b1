"""Run folders: nothing lost, nothing doubled, nothing broken overwritten."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from referee.game.record import GameRecord
from referee.game.spec import BotSpec, GameSpec, PlannedGame
from referee.machine.run_folder import FolderError, RunFolder
from tests.referee.conftest import a_record

GAMES = [
    PlannedGame.of(GameSpec("loa", "standard", BotSpec("one", ("./a",)), BotSpec("two", ("./b",)), sequence=number))
    for number in range(1, 6)
]


def record_of(game: PlannedGame) -> GameRecord:
    """A record of that game."""
    return a_record(id=game.id, sequence=game.spec.sequence)


def begin(path: Path, done: int) -> None:
    """A run with some games done."""
    with RunFolder(path) as folder:
        assert folder.open() is None
        folder.begin({"what": "test"})
        folder.resume(GAMES)
        for game in GAMES[:done]:
            folder.append(record_of(game))


def test_finished_games_are_there_again(tmp_path: Path) -> None:
    begin(tmp_path / "run", 3)
    with RunFolder(tmp_path / "run") as folder:
        assert folder.open() == {"what": "test"}
        assert [record.sequence for record in folder.resume(GAMES)] == [1, 2, 3]


@pytest.mark.parametrize("cut", [1, 2, 50, 300])
def test_a_torn_last_line_is_dropped_and_written_anew(tmp_path: Path, cut: int) -> None:
    begin(tmp_path, 3)
    file = tmp_path / "games.ndjson"
    whole = file.read_bytes()
    file.write_bytes(whole[:-cut])
    with RunFolder(tmp_path) as folder:
        folder.open()
        assert [record.sequence for record in folder.resume(GAMES)] == [1, 2]
        folder.append(record_of(GAMES[2]))
    assert file.read_bytes() == whole


@pytest.mark.parametrize("broken", ["{}", "not json", '{"id": 3}', "\x00\x01"], ids=repr)
def test_a_corrupt_line_is_refused_by_its_number_and_left_alone(tmp_path: Path, broken: str) -> None:
    begin(tmp_path, 3)
    file = tmp_path / "games.ndjson"
    lines = file.read_text().splitlines()
    lines[1] = broken
    file.write_text("\n".join(lines) + "\n")
    before = file.read_bytes()
    with RunFolder(tmp_path) as folder:
        folder.open()
        with pytest.raises(FolderError, match=r"games.ndjson, line 2: .*left as it is"):
            folder.resume(GAMES)
    assert file.read_bytes() == before


def test_doubled_and_foreign_games_are_refused(tmp_path: Path) -> None:
    begin(tmp_path, 2)
    file = tmp_path / "games.ndjson"
    whole = file.read_text()
    file.write_text(whole + whole.splitlines()[0] + "\n")
    with RunFolder(tmp_path) as folder:
        folder.open()
        with pytest.raises(FolderError, match=r"line 3: .*twice"):
            folder.resume(GAMES)
    file.write_text(record_of(PlannedGame.of(replace(GAMES[0].spec, seed=99))).line() + "\n")
    with RunFolder(tmp_path) as folder:
        folder.open()
        with pytest.raises(FolderError, match=r"line 1: .*not part of this run"):
            folder.resume(GAMES)


def test_a_folder_of_other_things_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with RunFolder(tmp_path) as folder, pytest.raises(FolderError, match=r"thesis.tex"):
        folder.open()
    (tmp_path / "file").write_text("")
    with RunFolder(tmp_path / "file") as folder, pytest.raises(FolderError, match="cannot be used"):
        folder.open()


def test_two_writers_at_once_are_refused(tmp_path: Path) -> None:
    with RunFolder(tmp_path) as one, RunFolder(tmp_path) as two:
        assert one.open() is None
        with pytest.raises(FolderError, match="another process"):
            two.open()
