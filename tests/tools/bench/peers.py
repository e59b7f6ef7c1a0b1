"""Overhead per move of `arena play` and of other runners on PATH, which play chess with an instant bot of their own.

Only what a runner adds to a bare loop in C is compared: the games differ, and so do their rules.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import mean

from tests.tools.bench.figure import Figure, ratio_interval
from tests.tools.bench.overhead import HERE, build, floor, specs, whole

RUNNERS = {
    "c-chess-cli": "-engine cmd={bot} name=one -engine cmd={bot} name=two -each tc=100+1 -games {games} -concurrency 1",
    "fastchess": "-engine cmd={bot} name=one -engine cmd={bot} name=two -each tc=100+1 -rounds {pairs} -games 2 "
    "-concurrency 1",
    "cutechess-cli": "-engine cmd={bot} name=one -engine cmd={bot} name=two -each proto=uci tc=100+1 -games {games} "
    "-concurrency 1",
}
"""What each is told. The game is legal and ends by repetition, so all of them play it to its end."""
TIMEOUT_S = 600
ARENA, OWN, OWN_GAMES = "arena play", "abalone", 160
"""This runner, the family it plays here, and in how many games: they must take long beside the start."""


def run(quick: bool) -> Iterator[Figure]:
    """The overhead per move of `arena play` and of each runner there is: CPU over that of a bare loop, start aside."""
    core, games, repeats = min(os.sched_getaffinity(0)), 16 if quick else 80, 3 if quick else 7
    runners = list(filter(shutil.which, RUNNERS))
    costs: dict[str, list[float]] = {name: [] for name in (ARENA, *runners)}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build(folder)
        moves = Path(shutil.copy(HERE / "chess.txt", folder))
        specs(OWN, folder, 1)
        bot = folder / "bot"
        bot.write_text(f"#!/bin/sh\nexec {folder / 'instant'} -1 {moves}\n")
        bot.chmod(0o755)
        for _ in range(repeats):  # by turns, so that all meet the same neighbours
            bare, own_bare = floor(moves, core, games)[0], floor(folder / f"{OWN}.txt", core, games)[0]
            whole_us = whole(OWN, folder, OWN_GAMES)
            if whole_us is None:
                continue
            costs[ARENA].append(whole_us - own_bare)
            for runner in runners:
                costs[runner].append(_us(runner, bot, moves, games) - bare)
    if not costs[ARENA]:
        raise RuntimeError("the start of `arena play` varied by more than its games took; measure on a calmer machine")
    for runner, values in costs.items():
        game, interval = (OWN, None) if runner == ARENA else ("chess", ratio_interval(values, costs[ARENA]))
        base = 0.0 if runner == ARENA else mean(costs[ARENA])
        yield Figure(
            "peers", f"overhead per move, {game}: {runner}", mean(values), "µs/move", ARENA, base, interval=interval
        )


def _us(runner: str, bot: Path, moves: Path, games: int) -> float:
    """CPU per move of a runner in microseconds."""
    few = games // 4
    cpu_s = _cpu_s(runner, bot, games, bot.parent) - _cpu_s(runner, bot, few, bot.parent)
    return 1e6 * cpu_s / (len(moves.read_text().split()) * (games - few))


def _cpu_s(runner: str, bot: Path, games: int, folder: Path) -> float:
    """CPU seconds of a run of so many games, bots included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    words = RUNNERS[runner].format(bot=bot, games=games, pairs=games // 2).split()
    subprocess.run([runner, *words], cwd=folder, capture_output=True, check=True, timeout=TIMEOUT_S)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
