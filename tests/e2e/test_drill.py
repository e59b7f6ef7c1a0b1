"""A short drill of each topology: killed, stopped, cut off and doubled, the arena plays every game exactly once."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import INTERPRETED
from tests.e2e.drill import scaled

ROOT = Path(__file__).parents[2]


# Seeds that hit what matters most: arena, slots, bots, disk; scheduler, worker, referee, broker, network.
@pytest.mark.long
@pytest.mark.parametrize(("topology", "seed"), [("embedded", 97), ("scaled", 277)])
def test_whatever_is_hit_every_game_has_one_result_and_nothing_is_left_behind(
    topology: str, seed: int, tmp_path: Path
) -> None:
    if not shutil.which("gcc") or not shutil.which("make"):
        pytest.skip("no C compiler and make here")
    if topology == "scaled" and (reason := scaled.missing()):
        pytest.skip(reason)
    words = [
        "--topology",
        topology,
        "--games",
        "30",
        "--faults",
        "6",
        "--seed",
        str(seed),
        "--lease",
        "4",
        "--pause",
        "40",
        "--json",
    ]
    line = [sys.executable, "-m", "tests.e2e.drill", *words, "--keep", str(tmp_path)]
    done = subprocess.run(
        line, capture_output=True, text=True, timeout=230, check=False, cwd=ROOT, env={**os.environ, **INTERPRETED}
    )
    assert done.stdout, done.stderr
    found = json.loads(done.stdout)
    assert found["drills"], done.stderr
    (drill,) = found["drills"]
    assert [check for check in drill["checks"] if not check["passed"]] == [], done.stderr
    assert len(drill["faults"]) == 6
    assert done.returncode == 0, done.stderr
