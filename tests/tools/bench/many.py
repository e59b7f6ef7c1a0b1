"""Many games at a time: those that wait for their bots cost next to nothing, those that are played do not hinder."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from arena.cluster.spool import Spool
from arena.coordinator.executors import publisher
from arena.events.bus import Bus
from referee.game.spec import Adjudication, PlannedGame
from referee.machine.pool import SlotPool
from referee.play.slot import play_games
from referee.sandbox.reaper import children
from tests.tools.bench.figure import Figure
from tests.tools.bench.overhead import PLIES, build, cpu_ns, slots, specs

WAITING = 64
LONG_MS = 120_000
GAME_PLIES = 80


def run(quick: bool) -> Iterator[Figure]:
    """Figures of many games."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build(folder)
        yield _waiting(folder, 8 if quick else WAITING, 3 if quick else 10)
        yield from _wider(folder, 20 if quick else 200)
        cores = sorted(os.sched_getaffinity(0))
        if len(cores) > 1:
            yield _thinking(folder, cores, 1 if quick else 10)


def _waiting(folder: Path, count: int, seconds: float) -> Figure:
    """What so many game slots and bots use while every bot thinks, scaled to 64 of them."""
    before = children()
    pool = SlotPool(count)
    try:
        todo = specs("loa", folder, count, LONG_MS)
        jobs = [pool.submit(play_games, [PlannedGame.of(spec)]) for spec in todo]
        deadline = time.monotonic() + 120
        while len(everybody := _family(children() - before)) < 3 * count and time.monotonic() < deadline:
            time.sleep(0.2)  # a slot and two bots each
        time.sleep(3)  # the last ones have shaken hands
        cpu, begin = cpu_ns(everybody), time.perf_counter()
        time.sleep(seconds)
        share = (cpu_ns(everybody) - cpu) / 1e9 / (time.perf_counter() - begin)
        pool.abort()
        for job in jobs:
            job.result(60)
    finally:
        pool.shutdown()
    name = f"{WAITING} waiting games ({count} measured, {len(everybody)} processes)"
    return Figure("many", name, 100 * share * WAITING / count, "% of a core", goal="< 10")


def _wider(folder: Path, games: int) -> Iterator[Figure]:
    """How many slots the process that hands out and tells can keep busy: a model from what it measurably costs it.

    Plies that come fast are told together, slow ones each alone: both are measured. What it costs to record a game
    comes on top, see the section `store`.
    """
    game_s = _parent_s(folder, games, 2)
    for move_ms in (0, 10, 100):
        plies = max(2, PLIES if not move_ms else 1000 // move_ms)
        whole_s = _parent_s(folder, max(2, games // (1 + move_ms)), plies, move_ms)
        ply_s = max(0.0, whole_s - game_s) / (plies - 2)
        pace = f"plies of {move_ms} ms" if move_ms else "plies at once"
        yield Figure("many", f"parent of slots: a ply published, {pace}", 1e6 * ply_s, "us CPU")
        if move_ms:
            slots = GAME_PLIES * move_ms / 1e3 / (game_s + GAME_PLIES * ply_s)
            yield Figure("many", f"model: slots one core of it feeds, games of {GAME_PLIES} {pace}", slots, "slots")
    yield Figure("many", "parent of slots: a game handed out and brought home", 1e3 * game_s, "ms CPU")


def _parent_s(folder: Path, games: int, plies: int, thinks_ms: int = 0) -> float:
    """CPU seconds this process takes for a game of so many plies played in a slot, told to a bus nobody listens to."""
    adjudication = Adjudication(max_plies=plies)
    todo = specs("loa", folder, games + 2, thinks_ms)
    planned = [PlannedGame.of(replace(spec, adjudication=adjudication)) for spec in todo]
    with SlotPool(1, on_event=publisher(Bus(), Spool(folder / "spool"))) as pool:
        for game in planned[:2]:
            pool.submit(play_games, [game]).result()
        before = time.process_time()
        jobs = [pool.submit(play_games, [game]) for game in planned[2:]]
        for job in jobs:
            job.result()
        return (time.process_time() - before) / games


def _family(pids: set[int]) -> set[int]:
    """These processes and all that descend from them."""
    found = set(pids)
    for pid in pids:
        for task in Path(f"/proc/{pid}/task").iterdir():
            found |= _family({int(word) for word in (task / "children").read_text().split()})
    return found


def _thinking(folder: Path, cores: list[int], games: int) -> Figure:
    """Bots that think two milliseconds a move without using the processor: N slots on N cores against one."""
    specs("loa", folder, 1)
    ((_, one),) = slots("loa", folder, games, cores[:1], 2)
    together = sum(rate for _, rate in slots("loa", folder, games, cores, 2))
    name = f"thinking bots: {len(cores)} slots on {len(cores)} cores"
    return Figure("many", name, together, "moves/s", f"{len(cores)} x one slot", len(cores) * one, ">= 0.9 x")
