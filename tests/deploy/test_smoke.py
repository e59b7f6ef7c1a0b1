"""`deploy/smoke.sh`: the whole topology as plain processes, a tournament, a backup restored, nothing left behind."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.arena import postgres
from tests.conftest import INTERPRETED
from tests.deploy.sources import DEPLOY
from tests.program import ENDS_S, finished

TIMEOUT_S = 600
"""Half a minute on a machine of its own."""


@pytest.mark.long
@pytest.mark.timeout(TIMEOUT_S + 3 * ENDS_S)
def test_the_whole_topology(request: pytest.FixtureRequest) -> None:
    missing = [name for name in ("mosquitto", "mosquitto_sub", "bash", "setpriv") if not _found(name)]
    if postgres.programs() is None:
        missing.append("postgresql")
    if missing:
        pytest.skip(f"no {', '.join(missing)} here; install them")
    # PostgreSQL's own user must reach it too: folders of pytest are for one user alone.
    folder = Path(tempfile.mkdtemp(prefix="arena-smoke-test-"))
    request.addfinalizer(lambda: shutil.rmtree(folder))
    folder.chmod(0o711)
    environment = {**os.environ, **INTERPRETED, "PYTHON": sys.executable, "TMPDIR": str(folder)}
    done = finished([DEPLOY / "smoke.sh"], TIMEOUT_S, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "8 games verified, 0 wrong" in done.stdout
    assert "all processes have ended" in done.stdout
    assert not list(folder.iterdir())


def _found(name: str) -> bool:
    return bool(shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin"))


def test_words_it_does_not_know() -> None:
    found = subprocess.run([DEPLOY / "smoke.sh", "--nonsense"], capture_output=True, text=True, check=False)
    assert found.returncode == 2
    assert "--keep" in found.stderr
