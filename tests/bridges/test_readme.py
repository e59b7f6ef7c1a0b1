"""The page about bridges keeps its word: every bridge, exit code, call and variable that is there is on it."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from arena.botfile import read_bot_file
from bots.bridges.failure import Exit
from bots.bridges.python_agent import APIS
from tests.bridges.table import HERE, ROOT, bridge, honest, meet

PAGE = (ROOT / "bots" / "bridges" / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", PAGE, re.DOTALL)
BRIDGES = ("bologna", "command", "python_agent")


def test_every_exit_code_is_explained() -> None:
    assert {int(code) for code in re.findall(r"^\| (\d\d) \|", PAGE, re.MULTILINE)} == set(map(int, Exit))


def test_every_call_and_variable_is_named() -> None:
    assert all(f"| `{api}`" in PAGE for api in APIS)
    source = (HERE.parents[1] / "bots" / "bridges" / "command.py").read_text(encoding="utf-8")
    assert all(f"`{name}`" in PAGE for name in set(re.findall(r'"(ARENA_\w+)"', source)))


@pytest.mark.parametrize("name", BRIDGES)
def test_every_bridge_is_there_and_explains_itself(name: str) -> None:
    assert f"bots.bridges.{name}" in PAGE
    words = [sys.executable, "-m", f"bots.bridges.{name}", "--help"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, timeout=30, check=True)
    assert f"bots.bridges.{name}" in done.stdout


def test_the_bot_file_is_one(tmp_path: Path) -> None:
    (text,) = (block for kind, block in BLOCKS if kind == "toml")
    assert tomllib.loads(text)["capabilities"]
    (tmp_path / "bot.toml").write_text(text, encoding="utf-8")
    spec = read_bot_file(tmp_path)
    assert (spec.name, spec.folder, spec.options) == ("engine", "/opt/engine", (("threads", "2"),))
    assert spec.capabilities == {"clocks": False, "setoption": "bare", "overshoot_ms": 300}


def test_the_shell_script_is_a_bot(tmp_path: Path) -> None:
    script = tmp_path / "first.sh"
    (text,) = (block for kind, block in BLOCKS if block.startswith("#!/bin/sh"))
    script.write_text(text, encoding="utf-8")
    script.chmod(0o755)
    record = meet(bridge("command", "--family", "loa", "--", str(script)), honest("h4f2", "resign"), "loa")
    assert record.winner == "first", (record.detail, record.logs)
