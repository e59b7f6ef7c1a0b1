"""A table for bridges: one game of a command against an honest opponent, without a sandbox."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from referee.game.record import GameRecord
from referee.game.spec import BotLimits, BotSpec, GameSpec, PlannedGame, TimeControl
from referee.play.play import play
from referee.play.roster import Roster
from referee.sandbox import Sandbox
from tests.conftest import INTERPRETED
from tests.referee.conftest import PATIENT

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
LIMITS = replace(PATIENT, quit_ms=600, margin_ms=30_000)
"""With a margin that a busy machine does not use up."""


def has_networks() -> bool:
    """Whether a process can have a network of its own here, so that fixed ports are no matter."""
    return subprocess.run(["unshare", "-Urn", "true"], capture_output=True, check=False).returncode == 0


def bridge(module: str, *words: str) -> BotSpec:
    """A bridge of that name with its arguments."""
    environment = ("env", *(f"{name}={value}" for name, value in INTERPRETED.items()))
    return BotSpec(module, (*environment, sys.executable, "-m", f"bots.bridges.{module}", *words), str(ROOT))


def honest(*moves: str) -> BotSpec:
    """An opponent that plays these moves."""
    script = str(HERE.parents[1] / "referee" / "scripted.py")
    return BotSpec("honest", (sys.executable, "-S", "-E", script, *moves))


def meet(
    first: BotSpec,
    second: BotSpec,
    family: str,
    *,
    variant: str = "",
    options: Sequence[tuple[str, int]] = (),
    opening: Sequence[str] = (),
    time: TimeControl | None = None,
    sandbox: Sandbox | None = None,
    limits: BotLimits = LIMITS,
) -> GameRecord:
    """One game. `options` are rules, such as a limit of plies."""
    from referee.rules import load

    name = variant or load(family).variants[0].name
    control = time or TimeControl("clock", 20_000, 100)
    rules = {"options": dict(options), "opening": tuple(opening), "time": control, "limits": limits}
    with Roster(sandbox or Sandbox("none")) as roster:
        return play(PlannedGame.of(GameSpec(family, name, first, second, **rules)), roster)
