"""The commands of the guides for bot authors work as they stand there."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from arena.submission.bundle_store import read_manifest
from arena.submission.unpack import Contents
from docs.extensions.file_reference import bot_file_keys
from protocol.capabilities import Capabilities
from referee import toml
from referee.bot import file as bot_file
from referee.tournament import document as settings
from tests.bots.compilers import build, build_loa_bot, need, write_template
from tests.bots.driver import ROOT
from tests.conftest import INTERPRETED
from tests.program import arena

GUIDES = (
    *(
        "tutorials/first-bot.md",
        "tutorials/searching-bot.md",
        "how-to/write-a-bot-in-another-language.md",
        "how-to/connect-a-bot-from-home.md",
    ),
    *("reference/samples.md", "how-to/tune-a-bot.md", "how-to/debug-a-bot.md", "explanation/champion.md"),
    *("how-to/retrain-the-champion.md", "reports/2026-11-24-champion.md", "reference/bot-files.md"),
)
TEXT = "\n".join((ROOT / "docs" / name).read_text(encoding="utf-8") for name in GUIDES)
BOT_FILES = (ROOT / "docs" / "reference" / "bot-files.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
LINES = [line for kind, name, text in BLOCKS if kind == "sh" and name != "guide" for line in text.splitlines()]
COMMANDS = [
    line for line in LINES if not line.startswith("arena ") or line.startswith('arena check "python searcher.py"')
]
"""What other programs than `arena` do, and the check of the bot that a page shows; the other commands are run in
tests/arena/cli/test_shown_commands.py.
"""
WRITTEN = {words[4]: words[2:4] for words in map(str.split, LINES) if words[:2] == ["arena", "new-bot"]}
"""Language and family of each bot that a page begins with, by its folder."""


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder like the project's own, with the files of the page in it and `python` and `arena` on the path."""
    with tempfile.TemporaryDirectory(prefix="readme") as name:
        Path(name).chmod(0o755)  # the arena runs bots as a user with fewer rights
        yield fill(Path(name))


def fill(folder: Path) -> Path:
    for kind, name, text in BLOCKS:
        if kind == "python" and name:
            (folder / name).write_text(text, encoding="utf-8")
    for place, (language, family) in WRITTEN.items():
        write_template(language, family, folder / place)
    tools = folder / "tools"
    tools.mkdir()
    for name, command in (("python", ""), ("arena", "-m arena")):
        (tools / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {command} "$@"\n')
        (tools / name).chmod(0o755)
    return folder


@pytest.mark.parametrize(("file", "language"), [("my_bot.py", "python"), ("plain.py", "python-plain")])
def test_the_page_shows_the_templates(file: str, language: str) -> None:
    (shown,) = [text for _, name, text in BLOCKS if name == file]
    assert shown == (ROOT / "bots" / "examples" / language / "my_bot.py").read_text()


def test_the_pages_have_commands() -> None:
    assert len(COMMANDS) >= 6
    assert len(WRITTEN) == 3


def test_every_key_of_a_bots_file_is_explained() -> None:
    tables: dict[str, set[str]] = {}
    heading = ""
    for line in BOT_FILES.replace("```{include} bot-file-keys.md\n```", bot_file_keys()).splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if not cells:
            heading = ""
        elif not heading:
            heading = cells[0]
        else:
            tables.setdefault(heading, set()).update(re.findall(r"`(\w+)`", cells[0]))
    assert {heading: keys for heading, keys in tables.items() if keys} == {
        "key": set(bot_file.KEYS),
        "in `limits`": set(bot_file.NEEDS),
        "in `capabilities`": {field.name for field in fields(Capabilities)} - bot_file.SAID,
    }


def test_the_example_is_a_bot_here_and_uploaded(tmp_path: Path) -> None:
    (text,) = (text for _, name, text in BLOCKS if name == "bot.toml")
    (tmp_path / "bot.toml").write_text(text, encoding="utf-8")
    (tmp_path / "zeta").write_text("#!/bin/sh\n", encoding="utf-8")
    here = bot_file.read_bot_file(tmp_path)
    assert read_manifest(Contents("zip", tmp_path, ("bot.toml", "zeta"), 0)) == here
    assert bot_file.read_local_bot(tmp_path, "loa").command == ("./zeta", "--game=loa")
    assert here.capabilities == {"clocks": False}
    assert (here.families, here.limits) == (("loa", "tablut"), {"memory_bytes": 500_000_000})


def test_the_gauntlet_against_the_champion_is_a_schedule() -> None:
    (text,) = (text for _, name, text in BLOCKS if name == "champion.toml")
    found = settings.read(toml.read(text))
    assert found.format == "gauntlet"
    assert (found.entries.bots, found.entries.newest) == (["champion"], True)
    assert found.schedule


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_page_works(command: str, folder: Path) -> None:
    if "examples/loa" in command:
        build_loa_bot(folder / "bots" / "examples")
    for place in set(command.split()) & set(WRITTEN):
        need(WRITTEN[place][0])
        build(folder / place)
    path = f"{folder / 'tools'}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "PYTHONPATH": str(ROOT)}
    if command.startswith("arena check"):
        environment |= INTERPRETED
    if command.startswith("arena "):
        done = arena(shlex.split(command)[1:], environment, folder)
    else:
        done = subprocess.run(
            ["sh", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, timeout=500, check=False
        )
    assert done.returncode == 0, done.stdout + done.stderr
    if command.startswith("printf"):
        assert re.search(r"^bestmove [a-h1-8]{4}$", done.stdout, re.MULTILINE), done.stdout + done.stderr
