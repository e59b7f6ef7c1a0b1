"""What an opponent that never rests takes from the bot that is to move, on one core, by rule of the tournament."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median

from referee.game.spec import PONDERING, BotSpec, PlannedGame
from referee.play.play import play
from referee.play.roster import Roster
from referee.sandbox import LEVELS, Sandbox, assess, open_sandbox
from tests.tools.bench.figure import Figure
from tests.tools.bench.overhead import build, specs

THINKS_MS = 10


def run(quick: bool) -> Iterator[Figure]:
    """Nodes a second of a busy bot against one that is busy in its own turn, and one that always is."""
    cores = os.sched_getaffinity(0)
    level = next(name for name in LEVELS if assess(name).works)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        build(folder)
        os.sched_setaffinity(0, {min(cores)})
        try:
            for sandbox in (Sandbox("none"), open_sandbox(level)):
                yield from _figures(folder, sandbox, 2 if quick else 6)
        finally:
            os.sched_setaffinity(0, cores)


def _figures(folder: Path, sandbox: Sandbox, games: int) -> Iterator[Figure]:
    (spec,) = specs("loa", folder, 1)
    moves = spec.first.command[2]
    program = str(folder / "instant")
    victim = BotSpec("busy", (program, "0", moves, str(THINKS_MS), "busy"))
    quiet, spinner = (BotSpec(kind, (program, "1", moves, str(THINKS_MS), kind)) for kind in ("busy", "spins"))
    cases = {"quiet": replace(spec, first=victim, second=quiet)}
    cases |= {
        rule: replace(spec, first=victim, second=spinner, pondering=rule) for rule in PONDERING if rule != "pinned"
    }
    rates: dict[str, list[float]] = {case: [] for case in cases}
    taken: dict[str, list[float]] = {case: [] for case in cases}
    with Roster(sandbox) as roster:
        for _ in range(games):  # in turn, so that a busy moment of the machine hits all alike
            for case, game in cases.items():
                record = play(PlannedGame.of(game), roster)
                thought_ms = sum(ply.ms for ply in record.plies[::2])
                rates[case].append(1000 * sum(ply.nodes or 0 for ply in record.plies[::2]) / thought_ms)
                taken[case].append(100 * record.out_of_turn_ms[1] / thought_ms)
    usual = {case: median(speeds) for case, speeds in rates.items()}
    for rule, goal in (("frozen", ">= 0.97 x"), ("allowed", "")):
        name = f"nodes/s against a spinning opponent, {rule}, {sandbox.name}"
        yield Figure("pondering", name, usual[rule], "nodes/s", "one that rests", usual["quiet"], goal)
    name = f"share of a bot's time that a spinning opponent uses, {sandbox.name}"
    yield Figure("pondering", name, median(taken["frozen"]), "%", "allowed", median(taken["allowed"]), "<= 3")
