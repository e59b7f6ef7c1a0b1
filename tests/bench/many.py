"""Many games at a time: those that wait for their bots cost next to nothing, those that are played do not hinder."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from referee.pool import SlotPool
from referee.sandbox.reaper import children
from referee.slot import play_games
from referee.spec import PlannedGame
from tests.bench.figure import Figure
from tests.bench.overhead import build, cpu_ns, slots, specs

WAITING = 64
LONG_MS = 120_000


def run(quick: bool) -> Iterator[Figure]:
    """Figures of many games."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build(folder)
        yield _waiting(folder, 8 if quick else WAITING, 3 if quick else 10)
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
