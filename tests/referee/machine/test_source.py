"""The digest of what judges games."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from referee.machine import source
from referee.rules import families

ROOT = Path(__file__).parents[3]


def digest_in(folder: Path) -> tuple[str, dict[str, str]]:
    """The digest and its parts as a process finds them that has the sources from there."""
    code = "from referee.machine import source; print(source.digest()); print(dict(source.parts()))"
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    digest, parts = done.stdout.splitlines()
    return digest, eval(parts)


def test_every_part_is_seen(tmp_path: Path) -> None:
    assert set(source.parts()) == {*families(), "protocol", "referee", "numba", "llvmlite", "numpy"}
    for package in ("referee", "protocol"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    same, parts = digest_in(tmp_path)
    assert (same, parts) == (source.digest(), dict(source.parts()))
    (tmp_path / "protocol" / "new.py").write_text("x = 1\n")
    other, changed = digest_in(tmp_path)
    assert other != same
    assert {name for name in parts if parts[name] != changed[name]} == {"protocol"}
