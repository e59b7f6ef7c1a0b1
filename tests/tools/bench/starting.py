"""How long things take to start: the command line, the first bot, the next game."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from referee.game.spec import Adjudication, PlannedGame
from referee.play.play import play
from referee.play.roster import Roster
from referee.sandbox import Sandbox
from tests.tools.bench.figure import Figure, best_seconds
from tests.tools.bench.overhead import build, specs

ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""Where bytecode is not kept, every start compiles all sources: a tenth of a second of each process."""
STAMP = """#!/bin/sh
[ -e "$0.stamp" ] || date +%s.%N > "$0.stamp"
exec "$@"
"""


def run(quick: bool) -> Iterator[Figure]:
    """Figures of starting."""
    bare = best_seconds(lambda: subprocess.run([sys.executable, "-c", ""], check=True), 5)
    line = [sys.executable, "-m", "arena", "--help"]
    help_seconds = best_seconds(lambda: subprocess.run(line, check=True, capture_output=True, env=ENVIRONMENT), 5)
    yield Figure("starting", "arena --help", help_seconds, "s", "bare interpreter", bare, "< 0.3")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build(folder)
        yield Figure(
            "starting",
            "arena play to its first bot",
            _first_bot(folder, 2 if quick else 3),
            "s",
            "bare interpreter",
            bare,
            "< 1",
        )
        yield from _samples(bare)
        short = Adjudication(max_plies=2)
        games = [PlannedGame.of(replace(spec, adjudication=short)) for spec in specs("loa", folder, 41)]
        with Roster(Sandbox("none")) as roster:
            play(games[0], roster)
            begin = time.perf_counter()
            records = [play(game, roster) for game in games[1:]]
            whole = 1000 * (time.perf_counter() - begin) / len(records)
        thinking = sum(ply.ms for record in records for ply in record.plies) / len(records)
    yield Figure("starting", "from one game to the next, bots reused (games of two plies)", whole, "ms", goal="< 20")
    yield Figure("starting", "of that, waiting for the bots' moves", thinking, "ms")


def _samples(bare: float) -> Iterator[Figure]:
    """A game of two plies between samples as a whole command, with nothing compiled and with everything."""
    line = [sys.executable, "-m", "arena", "play", "sample:random", "sample:greedy", "--family", "loa"]
    line += ["--games", "1", "--max-plies", "2", "--json", "--sandbox", "none"]
    with tempfile.TemporaryDirectory() as cache:
        for name, goal in (("nothing compiled", "< 10"), ("all compiled", "< 1")):
            begin, before = time.perf_counter(), os.times()
            subprocess.run(line, capture_output=True, check=True, env={**ENVIRONMENT, "NUMBA_CACHE_DIR": cache})
            seconds, after = time.perf_counter() - begin, os.times()
            cpu = after.children_user + after.children_system - before.children_user - before.children_system
            yield Figure("starting", f"arena play of two samples, {name}", seconds, "s", "bare interpreter", bare, goal)
            yield Figure("starting", "of that, CPU of all its processes", cpu, "s")


def _first_bot(folder: Path, repeats: int) -> float:
    wrapper = folder / "stamped.sh"
    wrapper.write_text(STAMP)
    wrapper.chmod(0o755)
    moves = folder / "loa.txt"
    if not moves.exists():
        specs("loa", folder, 1)
    bots = [f"one={wrapper} {folder}/instant 0 {moves}", f"two={wrapper} {folder}/instant 1 {moves}"]
    line = [sys.executable, "-m", "arena", "play", *bots, "--family", "loa", "--games", "1", "--max-plies", "200"]
    delays_s = []
    for _ in range(repeats):
        stamp = Path(f"{wrapper}.stamp")
        stamp.unlink(missing_ok=True)
        begin = time.time()
        done = subprocess.run([*line, "--json", "--sandbox", "none"], capture_output=True, check=True, env=ENVIRONMENT)
        assert json.loads(done.stdout)["moves"] == 200
        delays_s.append(float(stamp.read_text()) - begin)
    return min(delays_s)
