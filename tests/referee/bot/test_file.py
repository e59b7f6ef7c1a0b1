"""Bots' files on this machine. `tests/arena/submission/test_manifest.py` has what uploads share with them."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from referee.bot.argument import read_bot
from referee.bot.command import BotFileError
from referee.bot.file import BotFile, parse_bot_file, read_bot_file, read_local_bot
from referee.bot.file_writer import bot_file_text, saved_capabilities


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """The folder of a bot, with a client and a library."""
    folder = tmp_path / "own"
    (folder / "lib").mkdir(parents=True)
    for name in ("client", "lib/x.jar"):
        (folder / name).touch()
    return folder


@pytest.mark.parametrize(
    ("command", "word"),
    [
        ("bridge:bologna -- {here}/client", "./client"),
        ("bridge:bologna -- {here}/../own/client", "./client"),
        ("bridge:bologna -- {link}/client", "./client"),
        ("java -cp {here}/lib/x.jar:lib", "./lib/x.jar:lib"),
        ("./client --weights={here}/lib/x.jar", "--weights=./lib/x.jar"),
        ("./client /usr/bin", "/usr/bin"),
        ("./client {here}/nothing", "{here}/nothing"),
    ],
)
def test_absolute_paths_in_the_bots_folder_become_relative(command: str, word: str, own: Path) -> None:
    link = own.parent / "link"
    link.symlink_to(own)
    (own / "bot.toml").write_text(f'command = "{command.format(here=own, link=link)}"')
    assert read_bot(str(own), "tablut").command[-1] == word.format(here=own)


def test_a_bridge_and_python_run_with_the_interpreter_of_the_arena(own: Path) -> None:
    (own / "bot.toml").write_text('command = "bridge:python agent.py:choose"\n', encoding="utf-8")
    command = (sys.executable, "-P", "-m", "bots.bridges.python_agent", "--family", "tablut", "agent.py:choose")
    assert read_bot(str(own), "tablut").command == command
    (own / "bot.toml").write_text('command = ["python", "agent.py", "--game={family}"]\n', encoding="utf-8")
    assert read_bot(str(own), "tablut").command == (sys.executable, "agent.py", "--game=tablut")


def test_the_folder_may_lie_anywhere_on_this_machine(own: Path, tmp_path: Path) -> None:
    for folder in (str(own), "own", "../own", "."):
        place = own if folder in ("../own", ".") else tmp_path
        (place / "any.toml").write_text(f'command = "./client"\nfolder = "{folder}"', encoding="utf-8")
        assert read_local_bot(place / "any.toml", "loa").folder == str(own)


def test_missing_files_and_folders_are_told_apart(own: Path) -> None:
    with pytest.raises(BotFileError, match=r"own: the folder has no bot\.toml; write one with name and command"):
        read_bot_file(own)
    (own / "bot.toml").mkdir()
    with pytest.raises(BotFileError, match=r"bot\.toml is a folder"):
        read_bot_file(own)


def test_a_written_file_is_read_again(own: Path) -> None:
    bot = BotFile(
        command=("client", "--text", 'a "b" \\ é'),
        name="Zoë",
        families=("loa",),
        options={"Own Book": "x=y", "Hash": "1"},
        capabilities={"setoption": "bare", "overshoot_ms": 3},
        limits={"processes": 2},
        folder="own",
        description="one\ntwo",
        remarks={"author": "Zoë", "url": "https://example.org"},
    )
    again = parse_bot_file(bot_file_text(bot), own.parent, "bot.toml")
    assert again == replace(bot, command=("./client", *bot.command[1:]))


@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_saved_capabilities_take_the_place_of_the_table(start: str, own: Path) -> None:
    file = own / "bot.toml"
    file.write_text(f"{start}[capabilities]\nclocks = false\n[options]\nHash = 1\n", encoding="utf-8")
    saved_capabilities(file).write({"stop": False})
    assert file.read_text(encoding="utf-8") == "[capabilities]\nstop = false\n\n[options]\nHash = 1\n"
