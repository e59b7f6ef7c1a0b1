"""Bundles of attackers, and games between them in a sandbox."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest

from referee.game.record import GameRecord
from referee.game.spec import BotSpec, GameSpec, PlannedGame, TimeControl
from referee.play.play import play
from referee.play.roster import Roster
from referee.sandbox import Sandbox
from tests.badbots import match
from tests.referee.conftest import PATIENT, PATIENT_TIME, scripted
from tests.referee.sandbox.levels import sandbox_or_skip

ATTACKS = Path(__file__).parent / "attacks"
LIMITS = replace(PATIENT, quit_ms=150, processes=24, memory_bytes=150 * 2**20)
FOUND_OUT_LATE = {"time": TimeControl("clock", 5000, 0), "limits": replace(LIMITS, grace_ms=5000)}
"""Where the kernel refuses a bot more processes, the referee notices when the bot's time is up: time enough to fork."""
Attack = Callable[..., tuple[GameRecord, dict[str, Any]]]


@pytest.fixture(scope="session")
def sandbox() -> Sandbox:
    """Bubblewrap as it comes, with control groups where they can be had."""
    return sandbox_or_skip("bwrap")


@pytest.fixture
def roster(sandbox: Sandbox) -> Iterator[Roster]:
    with match.roster(sandbox) as found:
        yield found


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """A folder with the attackers in it, such as an upload is unpacked to; readable by all, its parents by nobody."""
    folder = tmp_path / "bundle"
    shutil.copytree(ATTACKS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    folder.chmod(0o755)
    for path in folder.iterdir():
        path.chmod(0o644)
    return folder


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can look into."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        yield Path(name)


def attacker(bundle: Path, name: str, *words: object) -> BotSpec:
    """A bot of the bundle."""
    command = ("python3", "-S", "-E", f"{name}.py", *map(str, words))
    return BotSpec(name, command, str(bundle))


@pytest.fixture
def attack(bundle: Path, roster: Roster) -> Attack:
    """Play an attacker against an honest bot that resigns at its second move; the record and what the attacker got."""

    def run(
        name: str, *words: object, network: Literal["", "loopback"] = "", **changes: Any
    ) -> tuple[GameRecord, dict[str, Any]]:
        spec = GameSpec(
            "loa",
            "standard",
            replace(attacker(bundle, name, *words), network=network),
            scripted("honest", "h4f2", "resign"),
            time=PATIENT_TIME,
            limits=LIMITS,
        )
        record = play(PlannedGame.of(replace(spec, **changes)), roster)
        lines = [line for line in record.logs.get("first", "").splitlines() if line.startswith("{")]
        return record, json.loads(lines[0]) if lines else {}

    return run


def is_root() -> bool:
    return os.geteuid() == 0
