"""Processor time of the referee a game: embedded on SQLite, and with PostgreSQL, MQTT and Dask.

Bots in C play short games without a pause. What the same processes take at rest is a figure of its own and not counted.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.e2e.drill.scaled import Scaled
from tests.e2e.drill.stage import Embedded, Stage
from tests.tools.bench.cluster import cpu_s
from tests.tools.bench.figure import Figure

REST_S = 10.0
"""How long the arena is measured at rest."""
WARM = 30
"""Games before the measurement: the first ones load what later ones use."""
GAMES = 300
TIMEOUT_S = 240.0


def run(quick: bool) -> Iterator[Figure]:
    """Figures of each process of both topologies, two slots each."""
    count = 60 if quick else GAMES
    embedded = 0.0
    for kind in (Embedded, Scaled):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder).chmod(0o755)  # bots have users of their own
            with kind(Path(folder), can_mount=False, lease_s=10.0) as stage:
                stage.contest.time_control = "100+0.1"
                stage.contest.submit(0)
                at_rest = _at_rest(stage)
                stage.contest.create(2 * (WARM + count), 1)
                spent, rate = _spent_ms(stage, count, at_rest)
        yield Figure("referees", f"{kind.name}: games by two slots", rate, "games/s")
        for name, ms in spent.items():
            base = embedded if name == stage.referee else 0.0
            goal = "< 5" if name == stage.referee else ""
            yield Figure("referees", f"{kind.name}: {name} at rest", 1e3 * at_rest[name], "ms/s")
            yield Figure("referees", f"{kind.name}: CPU of {name} a game", ms, "ms", "embedded", base, goal)
        embedded = embedded or spent[stage.referee]


def _at_rest(stage: Stage) -> dict[str, float]:
    """Return the CPU seconds of each process a second while nothing is played."""
    time.sleep(REST_S)  # uploads are followed by checks
    before = _cpu_s(stage)
    time.sleep(REST_S)
    return {name: (end - before[name]) / REST_S for name, end in _cpu_s(stage).items()}


def _spent_ms(stage: Stage, count: int, at_rest: Mapping[str, float]) -> tuple[dict[str, float], float]:
    """Return the CPU of each process of the arena a game, and games per second."""
    first = _until(stage, WARM)
    begin, before = time.monotonic(), _cpu_s(stage)
    games = _until(stage, first + count) - first
    seconds, after = time.monotonic() - begin, _cpu_s(stage)
    spent = {name: 1e3 * (after[name] - before[name] - seconds * at_rest[name]) / games for name in after}
    return spent, games / seconds


def _cpu_s(stage: Stage) -> dict[str, float]:
    """Return the CPU seconds so far of each process of the arena by name."""
    services = stage.supervisor.services
    return {name: cpu_s([services[name].pid]) for name in services if name not in ("database", "broker")}


def _until(stage: Stage, commit: int) -> int:
    """Wait for this result; return the number of the last one."""
    deadline = time.monotonic() + TIMEOUT_S
    while (last := stage.store.results.last_commit()) < commit:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{last} of {commit} games were played within {TIMEOUT_S:g} s")
        time.sleep(0.05)
    return last
