"""`deploy/smoke.sh`: the whole topology as plain processes, a tournament, a backup restored, nothing left behind."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.arena import postgres
from tests.deploy.sources import DEPLOY


def test_the_whole_topology(tmp_path: Path) -> None:
    missing = [name for name in ("mosquitto", "mosquitto_sub", "bash", "setpriv") if not _found(name)]
    if postgres.programs() is None:
        missing.append("postgresql")
    if missing:
        pytest.skip(f"no {', '.join(missing)} here; install them")
    os.chmod(tmp_path, 0o711)
    found = subprocess.run(
        [DEPLOY / "smoke.sh"],
        env={**os.environ, "PYTHON": sys.executable, "TMPDIR": _open_to_all(tmp_path)},
        capture_output=True,
        text=True,
        timeout=220,
        check=False,
    )
    assert found.returncode == 0, found.stdout + found.stderr
    assert "8 games verified, 0 wrong" in found.stdout
    assert "everything has ended, nothing is left" in found.stdout
    assert not list(Path(tmp_path).iterdir())


def _found(name: str) -> bool:
    return bool(shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin"))


def _open_to_all(folder: Path) -> str:
    """A folder that PostgreSQL's own user reaches too: pytest's are for one user alone."""
    for above in (folder, *folder.parents):
        if above.name.startswith("pytest-"):
            os.chmod(above, os.stat(above).st_mode | 0o011)
    return str(folder)


def test_words_it_does_not_know() -> None:
    found = subprocess.run([DEPLOY / "smoke.sh", "--nonsense"], capture_output=True, text=True, check=False)
    assert found.returncode == 2
    assert "--keep" in found.stderr
