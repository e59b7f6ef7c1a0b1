"""Other runners beside a bare loop in C: those on PATH, with two instant bots for chess. None is built here."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.tools.bench.figure import Figure
from tests.tools.bench.overhead import FLOOR, HERE, build, floor

RUNNERS = {
    "c-chess-cli": "-engine cmd={bot} name=one -engine cmd={bot} name=two -each tc=100+1 -games {games} -concurrency 1",
    "fastchess": "-engine cmd={bot} name=one -engine cmd={bot} name=two -each tc=100+1 -rounds {pairs} -games 2 "
    "-concurrency 1",
    "cutechess-cli": "-engine cmd={bot} name=one -engine cmd={bot} name=two -each proto=uci tc=100+1 -games {games} "
    "-concurrency 1",
}
"""What each is told. The game is legal and ends by repetition, so all of them play it to its end."""
TIMEOUT_S = 600


def run(quick: bool) -> Iterator[Figure]:
    """CPU per move of each runner there is, its bots included, its start aside."""
    core, games = min(os.sched_getaffinity(0)), 16 if quick else 80
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build(folder)
        moves = Path(shutil.copy(HERE / "chess.txt", folder))
        plies = len(moves.read_text().split())
        bot = folder / "bot"
        bot.write_text(f"#!/bin/sh\nexec {folder / 'instant'} -1 {moves}\n")
        bot.chmod(0o755)
        base_cpu, _ = floor(moves, core, games)
        yield Figure("peers", "chess: a bare loop in C over the pipes", base_cpu, "µs/move")
        for runner in filter(shutil.which, RUNNERS):
            cpu_s = _cpu_s(runner, bot, games, folder) - _cpu_s(runner, bot, games // 4, folder)
            cpu = 1e6 * cpu_s / (plies * (games - games // 4))
            yield Figure("peers", f"chess: {runner}", cpu, "µs/move", FLOOR, base_cpu)


def _cpu_s(runner: str, bot: Path, games: int, folder: Path) -> float:
    """CPU seconds of a run of so many games, bots included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    words = RUNNERS[runner].format(bot=bot, games=games, pairs=games // 2).split()
    subprocess.run([runner, *words], cwd=folder, capture_output=True, check=True, timeout=TIMEOUT_S)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
