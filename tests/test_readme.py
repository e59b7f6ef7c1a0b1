"""README.md is short, and its commands work in their order in a clean folder, with the files that it gives."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.conftest import INTERPRETED
from tests.guard import mark
from tests.program import ENDS_S, finished

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
TIMEOUT_S = 600
"""Half a minute on a machine of its own."""
MAX_LINES = 90
MAX_PICTURE_BYTES = 150_000
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_MADE = "-o .venv/.runs -o .venv/.ready -o .venv/.collected -o arena/documentation/index.html"
"""Environment and documentation are those of this folder."""
AS_A_TEST = {
    "make demo": f"make {_MADE} demo ARGS='--once --games 1 --family pijersi --tc nodes:9 --port 0'",
    "make test": f"make {_MADE} test WORKERS=1 ARGS='-p no:cacheprovider {ROOT}/tests/protocol/test_options.py'",
    "--games 10 --tc 1+0.05": "--games 2 --tc nodes:9",
}
"""What is shorter here."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of the sources, as far as the page needs it."""
    tmp_path.chmod(0o755)  # bots run as a user with fewer rights
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / ".venv").symlink_to(sys.prefix)
    return tmp_path


def test_page_is_short() -> None:
    assert len(TEXT.splitlines()) <= MAX_LINES
    assert re.search(r"^## Quick start$.*?^make demo .*?^make test ", TEXT, re.MULTILINE | re.DOTALL)


def test_pictures_are_small() -> None:
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", TEXT)
    assert pictures
    assert all((ROOT / name).stat().st_size < MAX_PICTURE_BYTES for name in pictures)


@pytest.mark.long
@pytest.mark.timeout(TIMEOUT_S + 2 * ENDS_S)
@pytest.mark.skipif(sys.prefix == sys.base_prefix, reason="optional: the page is for a virtual environment")
def test_commands_work_in_their_order(folder: Path) -> None:
    blocks = BLOCK.findall(TEXT)
    for words, instead in AS_A_TEST.items():
        assert sum(text.count(words) for _, _, text in blocks) == 1, f"{words!r} is not in one place"
        blocks = [(kind, name, text.replace(words, instead)) for kind, name, text in blocks]
    for _, name, text in blocks:
        if name:
            (folder / name).write_text(text, encoding="utf-8")
    commands = "".join(text for kind, _, text in blocks if kind == "sh")
    environment = {**mark(), **INTERPRETED, "HOME": str(folder / "home"), "XDG_CONFIG_HOME": "", "PATH": os.defpath}
    done = finished(["bash", "-c", f"set -euxo pipefail\n{commands}"], TIMEOUT_S, cwd=folder, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\b\d+ passed in ", done.stdout)
    assert "[2/2] random - my bot" in done.stderr
