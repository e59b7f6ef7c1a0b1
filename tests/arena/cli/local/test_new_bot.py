"""`arena new-bot`: what it writes, refuses and prints; tests/bots/test_templates.py builds and plays the bots."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest

from arena.cli.terminal.exit import Exit
from arena.cli.terminal.run import run
from arena.submission.template import LANGUAGES, template_files
from referee import toml
from referee.rules import families, load


def written(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder by name."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("language", LANGUAGES)
def test_new_bot_writes_a_bot_of_the_family(language: str, tmp_path: Path) -> None:
    for family in families():
        folder = tmp_path / "deep" / family
        assert run(["new-bot", language, family, str(folder)]) == Exit.DONE
        assert toml.read((folder / "bot.toml").read_text(encoding="utf-8"))["families"] == [family]
        assert f"FAMILY = {family}\n" in (folder / "Makefile").read_text(encoding="utf-8")
        (source,) = (path for path in folder.iterdir() if path.name not in ("bot.toml", "Makefile"))
        lines = source.read_text(encoding="utf-8").splitlines()
        assert 10 < len(lines) <= 70
        assert max(map(len, lines)) <= 120
        assert os.access(source, os.X_OK) == (lines[0].startswith("#!"))


def test_new_bot_into_an_empty_folder_is_written_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["new-bot", "c", "loa", "."]) == Exit.DONE
    assert written(tmp_path) == template_files("c", "loa")


def test_new_bot_into_a_folder_with_files_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "thesis.txt").write_bytes(b"mine")
    assert run(["new-bot", "c", "loa", str(tmp_path)]) == Exit.USAGE
    assert f"{tmp_path} is not empty; choose another folder" in capsys.readouterr().err
    assert written(tmp_path) == {"thesis.txt": b"mine"}


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        ("rost loa", "did you mean rust? Choose from " + ", ".join(LANGUAGES)),
        ("rust lao", "did you mean loa? Choose from " + ", ".join(families())),
        ("cobol loa", "choose from " + ", ".join(LANGUAGES)),
        ("rust", "missing: FAMILY"),
    ],
)
def test_new_bot_of_an_unknown_name_lists_the_known_ones(
    words: str, advice: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["new-bot", *words.split()]) == Exit.USAGE
    assert advice in capsys.readouterr().err
    assert not written(tmp_path)


@pytest.mark.usefixtures("interpreted")
def test_new_bot_prints_commands_that_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = Path("my first bot")
    assert run(["new-bot", "python-plain", "tablut", str(folder)]) == Exit.DONE
    printed = capsys.readouterr().out
    assert load("tablut").title in printed
    first, *commands = [shlex.split(line) for line in printed.splitlines() if line.startswith("  ")]
    assert first == ["make", "-C", str(folder), "test"]  # tests/bots/test_templates.py runs what it does
    assert [command[:2] for command in commands] == [["arena", "play"], ["arena", "perft"]]
    for command in commands:
        assert run(command[1:]) == Exit.DONE
