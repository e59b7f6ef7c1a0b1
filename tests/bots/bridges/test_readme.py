"""The page about bridges keeps its word: every bridge, exit code, call and variable that is there is on it."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from bots.bridges.failure import BridgeExit
from bots.bridges.python_agent import APIS
from referee.bot.bridge import BRIDGES
from referee.bot.file import read_local_bot
from tests.bots.bridges.table import HERE, ROOT, bridge, has_networks, honest, meet
from tests.conftest import INTERPRETED
from tests.program import arena

PAGE = (ROOT / "docs" / "how-to" / "connect-an-existing-program.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", PAGE, re.DOTALL)
SCRIPT = next(text for _, text in BLOCKS if text.startswith("#!/bin/sh"))
ADAPTER = next(text for kind, text in BLOCKS if kind == "python")
COMMANDS = [line for kind, text in BLOCKS if kind == "sh" and text != SCRIPT for line in text.splitlines()]
BOTS = re.findall(r'^\|.*\| `"(bridge:.*)"` \|$', PAGE, re.MULTILINE)


def test_every_exit_code_is_explained() -> None:
    assert {int(code) for code in re.findall(r"^\| (\d\d) \|", PAGE, re.MULTILINE)} == set(map(int, BridgeExit))


def test_every_call_and_variable_is_named() -> None:
    assert all(f"| `{api}`" in PAGE for api in APIS)
    source = (HERE.parents[2] / "bots" / "bridges" / "command.py").read_text(encoding="utf-8")
    assert all(f"`{name}`" in PAGE for name in set(re.findall(r'"(ARENA_\w+)"', source)))


@pytest.mark.parametrize("name", sorted(BRIDGES.values()))
def test_every_bridge_is_there_and_explains_itself(name: str) -> None:
    assert f"bots.bridges.{name}" in PAGE
    words = [sys.executable, "-m", f"bots.bridges.{name}", "--help"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, timeout=500, check=True)
    assert f"bots.bridges.{name}" in done.stdout


def test_bridge_with_an_invalid_command_line_ends_with_its_exit_code() -> None:
    words = [sys.executable, "-m", "bots.bridges.command"]
    done = subprocess.run(words, capture_output=True, cwd=ROOT, timeout=500, check=False)
    assert done.returncode == BridgeExit.USAGE


def test_the_bot_file_is_one(tmp_path: Path) -> None:
    text = next(block for kind, block in BLOCKS if kind == "toml" and "[capabilities]" in block)
    assert tomllib.loads(text)["capabilities"]
    (tmp_path / "engine").touch()
    (tmp_path / "bot.toml").write_text(text.replace("/opt/engine", str(tmp_path)), encoding="utf-8")
    spec = read_local_bot(tmp_path)
    assert (spec.name, spec.folder, spec.options) == (
        "engine",
        str(tmp_path),
        (("threads", "2"), ("Clear Hash", "true")),
    )
    assert spec.capabilities == {"clocks": False, "setoption": "bare", "overshoot_ms": 300}


def test_the_shell_script_is_a_bot(tmp_path: Path) -> None:
    script = tmp_path / "first.sh"
    script.write_text(SCRIPT, encoding="utf-8")
    script.chmod(0o755)
    record = meet(bridge("command", "--family", "loa", "--", str(script)), honest("h4f2", "resign"), "loa")
    assert record.winner == "first", (record.detail, record.logs)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the commands of the page are typed: with the bots, engines and clients that they name."""
    client = f'exec "{sys.executable}" -S -E "{HERE / "tablut_player.py"}" --habit upper'
    (tmp_path / "tools").mkdir()
    scripts = {
        "program": SCRIPT,
        "engine": f'#!/bin/sh\nexec "{sys.executable}" -m bots.samples.random_mover\n',
        "client": f'#!/bin/sh\n{client} "$@"\n',
        "adapter.py": ADAPTER,
        "other": f'#!/bin/sh\nexec "{sys.executable}" "{HERE / "other_player.py"}"\n',
        "uci-engine": f'#!/bin/sh\nexec "{sys.executable}" "{HERE / "chess_mover.py"}"\n',
        "xboard-engine": f'#!/bin/sh\nexec "{sys.executable}" "{HERE / "chess_mover.py"}"\n',
        "tools/java": f'#!/bin/sh\nshift 3  # -Xmx300m -jar client.jar\n{client} "$@"\n',
        "tools/python": f'#!/bin/sh\nexec "{sys.executable}" "$@"\n',
        "tools/arena": f'#!/bin/sh\nexec "{sys.executable}" -m arena "$@"\n',
    }
    for name, text in scripts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "my_bot.py").write_text(
        "def choose(position, clock):\n    return position.moves[0]\n", encoding="utf-8"
    )
    shutil.copy(HERE / "course_agent.py", tmp_path / "agent.py")
    (tmp_path / "engine.toml").write_text('name = "engine"\ncommand = ["./engine"]\n', encoding="utf-8")
    return tmp_path


def typed(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A command typed in the folder, once it has ended."""
    path = f"{folder / 'tools'}{os.pathsep}{os.environ['PATH']}"
    return arena(shlex.split(line)[1:], INTERPRETED | {"PATH": path, "PYTHONPATH": str(ROOT)}, folder)


def plays(line: str, folder: Path) -> None:
    """Two short games of an `arena play`, neither of them lost by a fault."""
    if "bologna" in line and not has_networks():
        pytest.skip("no network namespaces here")
    pace = "1/move" if "bologna" in line else "0.2/move"  # which has its first move to start a client
    done = typed(f"{line} --games 2 --max-plies 4 --tc {pace} --margin 10000 --sandbox none --json", folder)
    assert done.returncode == 0, done.stdout + done.stderr
    games = json.loads(done.stdout)["games"]
    assert [game["kind"] for game in games] == ["rules"] * 2, [game["detail"] for game in games]


def test_the_page_has_commands_and_bots() -> None:
    assert {line.split()[0] for line in COMMANDS} == {"arena", "socat"}
    assert {line.split()[0] for line in BOTS} == {f"bridge:{name}" for name in BRIDGES} - {"bridge:tcp"}


def test_the_adapter_is_of_30_lines_and_plays(folder: Path) -> None:
    assert len([line for line in ADAPTER.splitlines() if line.strip()]) <= 32
    plays("arena play mine=./adapter.py sample:random --family loa", folder)


@pytest.mark.parametrize("bot", BOTS)
def test_a_bot_of_the_page_plays(bot: str, folder: Path) -> None:
    families = {"bologna": "tablut --variant ashton", "course": "baroque", "": "loa"}
    family = next(family for word, family in families.items() if word in bot)
    plays(f"arena play mine={shlex.quote(bot)} sample:random --family {family}", folder)
