"""A short drill of each topology: killed, stopped, cut off and doubled, the arena plays every game exactly once."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.conftest import INTERPRETED
from tests.e2e.drill import scaled
from tests.program import ENDS_S, finished

ROOT = Path(__file__).parents[2]
TIMEOUT_S = 600
"""A drill waits for what it has hit to recover: a minute on a machine of its own, several on a busy one."""
ENVIRONMENT = {**os.environ, **INTERPRETED}


DRILLS = (
    ("embedded", ("fill the disk", "damage the database")),
    ("scaled", ("cut the network", "usurp", "kill without its database")),
)
"""What no shorter test does to a whole arena; slots, workers, schedulers and referees are killed in those of theirs.

A whole drill, `make drill`, has every fault.
"""


@pytest.mark.long
@pytest.mark.timeout(TIMEOUT_S + 2 * ENDS_S)
@pytest.mark.parametrize(("topology", "faults"), DRILLS)
def test_whatever_is_hit_every_game_has_one_result_and_nothing_is_left_behind(
    topology: str, faults: tuple[str, ...], tmp_path: Path
) -> None:
    if not shutil.which("gcc") or not shutil.which("make"):
        pytest.skip("no C compiler and make here")
    if topology == "scaled" and (reason := scaled.missing()):
        pytest.skip(reason)
    words = [
        "--topology",
        topology,
        "--games",
        "8",
        "--faults",
        str(len(faults)),
        "--lease",
        "2",
        "--pause",
        "80",
        "--time",
        "100+0.1",
        "--json",
    ]
    for label in faults:
        words += ["--only", label]
    line = [sys.executable, "-m", "tests.e2e.drill", *words, "--keep", str(tmp_path)]
    done = finished(line, TIMEOUT_S, cwd=ROOT, env=ENVIRONMENT)
    errors = done.stderr
    assert done.stdout, errors
    report = json.loads(done.stdout)
    assert report["drills"], errors
    (drill,) = report["drills"]
    assert [check for check in drill["checks"] if not check["passed"]] == [], errors
    assert len({fault["fault"] for fault in drill["faults"]}) == len(faults)
    assert done.returncode == 0, errors


@pytest.mark.long
@pytest.mark.timeout(TIMEOUT_S + 2 * ENDS_S)
def test_bots_far_away_lose_no_game_by_their_network() -> None:
    if not shutil.which("gcc") or not shutil.which("make"):
        pytest.skip("no C compiler and make here")
    words = ["--remote", "--games", "6", "--at-once", "2", "--latency", "0.05", "--cuts", "0.05", "--restarts", "0"]
    words += ["--time", "100+0.1"]
    done = finished([sys.executable, "-m", "tests.e2e.drill", *words, "--json"], TIMEOUT_S, cwd=ROOT, env=ENVIRONMENT)
    assert done.stdout, done.stderr
    (drill,) = json.loads(done.stdout)["drills"]
    assert drill["passed"], drill
    assert drill["results"] == 6
    assert drill["terminations"] == {"max-plies": 6}
    assert drill["cuts"] > 0
    assert drill["losses"] > 0, "a cut between two games loses nobody a seat, but not every cut is there"
