"""A format is added by its module alone: every test of all formats passes for one that is not the program's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
NAME = "double-round-robin"
TESTS = (
    "tests/referee/tournament/test_example.py",
    "tests/referee/tournament/test_toml_text.py",
    "tests/referee/tournament/test_every_format.py",
    "tests/arena/cli/client/test_tournament_file.py",
    "tests/arena/pages/test_every_format.py",
)


def test_a_format_of_its_own_passes_the_tests_of_all_formats() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-k", NAME]
    inner = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    command += ["-p", "tests.formats.plugin", *TESTS]
    run = subprocess.run(command, check=False, cwd=ROOT, env=inner, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout[-3000:]
    passed = int(run.stdout.rpartition(" passed")[0].split()[-1])
    assert passed >= 15, "the format takes part in the tests of all formats"
