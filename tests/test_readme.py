"""The commands of README.md, run in their order in a clean folder by one shell, with the files that it gives."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.conftest import INTERPRETED
from tests.port import free_port
from tests.program import ENDS_S, finished

ROOT = Path(__file__).parents[1]
TIMEOUT_S = 600
"""Half a minute on a machine of its own."""
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_MADE = "-o .venv/.runs -o arena/documentation/index.html"
"""Environment and documentation are those of this folder."""
AS_A_TEST = {
    "make env": f"make {_MADE} env",
    "make demo": f"make {_MADE} demo ARGS='--once --games 1 --family pijersi --tc nodes:9 --port 0'",
    "--games 10 --tc 1+0.05": "--games 2 --tc nodes:9",
    'time_control = "1+0.05"': 'time_control = "nodes:9"',
    "arena init": "arena init | tee admin",
    "arena serve --port 8080": "exec 4< <(exec arena serve --port 8080 2> serve.log); server=$!; read -r -u 4 address",
    "arena login --user admin": "sed -n 's/^password *//p' admin | arena login --user admin",
}
"""What is shorter here, or waited for, or typed."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of the sources, as far as the page needs it."""
    tmp_path.chmod(0o755)  # bots run as a user with fewer rights
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / ".venv").symlink_to(sys.prefix)
    return tmp_path


@pytest.mark.long
@pytest.mark.timeout(TIMEOUT_S + 2 * ENDS_S)
@pytest.mark.skipif(sys.prefix == sys.base_prefix, reason="optional: the page is for a virtual environment")
def test_the_commands_of_the_page_work_in_their_order(folder: Path) -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = [(kind, name, text) for kind, name, text in BLOCK.findall(page)]
    for words, instead in AS_A_TEST.items():
        assert sum(text.count(words) for _, _, text in blocks) == 1, f"what stands for {words!r} has no place"
        blocks = [(kind, name, text.replace(words, instead)) for kind, name, text in blocks]
    for _, name, text in blocks:
        if name:
            (folder / name).write_text(text, encoding="utf-8")
    commands = "".join(text for kind, _, text in blocks if kind == "sh").replace("8080", str(free_port()))
    environment = {**INTERPRETED, "HOME": str(folder / "home"), "XDG_CONFIG_HOME": "", "PATH": os.defpath}
    script = f"set -euxo pipefail\n{commands}\nkill -INT $server; wait $server"
    done = finished(["bash", "-c", script], TIMEOUT_S, cwd=folder, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^mybot v1  active$", done.stdout, re.MULTILINE)
    assert "First cup: loa standard, round-robin, finished, 12 of 12 games" in done.stdout
    leaderboard = done.stdout.rpartition("rating")[2]
    assert {line.split()[1] for line in leaderboard.splitlines()[1:]} >= {"mybot", "random", "greedy", "alphabeta"}
    assert (ROOT / "deploy" / "screenshots" / "game.webp").stat().st_size < 100_000
