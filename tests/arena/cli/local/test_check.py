"""What `arena check --write-config` writes is a bot for every command, and for an upload."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from arena.cli.client.bot import bundle_of
from arena.cli.terminal.run import run
from arena.documents.account import Identity
from arena.store import Store
from arena.submission.bundle_store import BundleStore
from arena.submission.check import check_version
from arena.submission.receive import receive
from referee.bot.file import BotFile, read_bot_file
from referee.sandbox import open_sandbox
from tests.conftest import INTERPRETED

AGENT = "def choose(position, clock):\n    return position.moves[0]\n"
ENGINE = "import runpy\nrunpy.run_module('bots.samples.random_mover', run_name='__main__')\n"


def check(folder: Path, *words: str) -> BotFile:
    """Check a bot, and return the file that is written."""
    options = ["--family", "loa", "--sandbox", "none", "--tc", "0.3/move", "--write-config", "bot.toml"]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, value in INTERPRETED.items():
            patch.setenv(name, value)
        assert run(["check", *words, *options]) == 0
    return read_bot_file(folder)


@pytest.mark.parametrize("bot", ["sample:random", "python engine.py", "bridge:python agent.py:choose", "inner"])
def test_a_bot_that_was_checked_and_written_is_uploaded_as_it_is(
    bot: str, sqlite_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # without a sandbox, `python` is that of PATH
    monkeypatch.setenv("PATH", os.pathsep.join((os.path.dirname(sys.executable), os.environ["PATH"])))
    folder, inner = tmp_path / "bot", tmp_path / "bot" / "inner"
    inner.mkdir(parents=True)
    for place in (folder, inner):
        (place / "agent.py").write_text(AGENT, encoding="utf-8")
        (place / "engine.py").write_text(ENGINE, encoding="utf-8")
    (inner / "bot.toml").write_text(
        'name = "Zoë 2.0"\ncommand = ["python", "engine.py", "--family={family}"]\nlimits = { processes = 8 }\n'
    )
    written = check(folder, bot)
    assert written.families == ("loa",)
    assert bot != "inner" or (written.folder, written.limits) == ("inner", {"processes": 8})
    bundles = BundleStore(str(tmp_path / "store"), tmp_path / "unpacked")
    user = Identity(sqlite_store.users.add("zoe").id or 0, "zoe", "author", frozenset())
    with bundle_of(folder) as file:
        version = receive(sqlite_store, bundles, file, user=user, tc="0.3/move")
    assert version.bot_file.folder == ("inner" if bot == "inner" else ".")
    assert bot != "inner" or version.name == "zoe-2-0 v1"
    claimed = sqlite_store.checks.claim()
    assert claimed is not None
    checked = check_version(sqlite_store, bundles, claimed.id or 0, open_sandbox("none"))
    assert (checked.state, checked.problem, checked.log) == ("active", "", "")


def bot_folder(folder: Path, families: str) -> Path:
    folder.mkdir()
    (folder / "agent.py").write_text(AGENT, encoding="utf-8")
    (folder / "bot.toml").write_text(f'command = "bridge:python agent.py:choose"\n{families}\n', encoding="utf-8")
    return folder


def test_check_of_a_folder_takes_its_only_family(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in INTERPRETED.items():
        monkeypatch.setenv(name, value)
    folder = bot_folder(tmp_path / "bot", 'families = ["loa"]')
    assert run(["check", str(folder), "--sandbox", "none", "--tc", "0.3/move"]) == 0
    assert "announces loa" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("families", "problem"),
    [
        ('families = ["loa", "tablut"]', "plays loa, tablut: name one, as in --family loa"),
        ("", "missing --family: write one of abalone, baroque, loa, pijersi, tablut"),
        ("families = 3", "families"),
    ],
)
def test_check_without_a_single_family_says_what_to_name(
    families: str, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["check", str(bot_folder(tmp_path / "bot", families))]) == 2
    assert problem in capsys.readouterr().err


@pytest.mark.parametrize(("name", "kind", "command"), [("b.zip", "zip", "unzip"), ("b.tar.gz", "gztar", "tar xf")])
def test_check_of_a_packed_folder_says_to_unpack_or_submit_it(
    name: str, kind: str, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = shutil.make_archive(str(tmp_path / "b"), kind, bot_folder(tmp_path / "bot", ""))
    assert run(["check", file, "--family", "loa"]) == 2
    error = capsys.readouterr().err
    assert f"unpack it ({command} {file}) and name its folder, or submit it (arena bot submit {file})" in error
    assert "chmod" not in error
