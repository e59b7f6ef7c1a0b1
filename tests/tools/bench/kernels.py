"""Speed of the rules: perft at the deepest tabulated start, random playouts, cold and warm compilation."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from referee.rules import families, load
from referee.rules.per_family import perft
from tests.tools.bench.figure import Figure, best_seconds

VECTORS = Path(__file__).parents[2] / "data" / "vectors"

PERFT_GOALS = {"pijersi": 300e6, "abalone": 80e6, "tablut": 70e6, "loa": 26e6, "baroque": 15e6}
"""Leaves per second. Plain C and C++ mailbox programs reach 270, 80, 70, 26 and 7-20 M/s."""
PLAYOUT_GOALS = {"loa": 2000, "pijersi": 16_000, "baroque": 500, "tablut": 2000, "abalone": 5000}
PLAYOUT_PLIES = {"abalone": 200, "tablut": 300}
PURE = """
import json, sys, time
from referee.rules import load
from referee.rules.per_family import perft
ruleset = load(sys.argv[1]).settle()
state = ruleset.read()
import numpy
with numpy.errstate(over="ignore"):
    perft(ruleset, state, 1)
    begin = time.perf_counter()
    nodes = perft(ruleset, state, 2)
    print(json.dumps(nodes / (time.perf_counter() - begin)))
"""


DEEPER = {"abalone": {"depth": 5, "nodes": 283_320_928}}
"""Published counts of the default start that are deeper than those of the vector files."""


def deepest(family: str) -> dict[str, Any]:
    """The deepest known perft count of the default start: `depth` and `nodes`."""
    if family in DEEPER:
        return DEEPER[family]
    entries = json.loads((VECTORS / f"{family}.json").read_text())["perft"]
    default = load(family).variants[0].name
    counts = [e for e in entries if e["position"] is None and not e["options"] and e["variant"] == default]
    entry: dict[str, Any] = max(counts, key=lambda entry: entry["depth"])
    return entry


def run(quick: bool) -> Iterator[Figure]:
    """All figures of the kernels."""
    for family in families():
        if not (VECTORS / f"{family}.json").exists():
            continue
        ruleset = load(family).settle()
        state = ruleset.read()
        entry = deepest(family)
        assert perft(ruleset, state, entry["depth"]) == entry["nodes"], f"perft of {family} is wrong"
        seconds = best_seconds(lambda: perft(ruleset, state, entry["depth"]), 3 if quick else 7)  # noqa: B023
        environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
        line = [sys.executable, "-c", PURE, family]
        pure = float(subprocess.run(line, env=environment, capture_output=True, check=True).stdout)
        yield Figure(
            "kernels",
            f"{family} perft {entry['depth']}",
            entry["nodes"] / seconds / 1e6,
            "M leaves/s",
            "pure-Python rules",
            pure / 1e6,
            f">= {PERFT_GOALS[family] / 1e6:g}" if family in PERFT_GOALS else "",
        )
        yield _playouts(family, 200 if quick else 2000)
    yield from _compilation(quick)


def _playouts(family: str, games: int) -> Figure:
    ruleset = load(family).settle(None, {"no_ejection_limit": 0} if family == "abalone" else {})
    kernel, config, state = ruleset.rules.kernel, ruleset.config, ruleset.read()
    rng = np.array([1], dtype=np.uint64)
    limit = PLAYOUT_PLIES.get(family, 100_000)
    kernel.playout(state, config, rng, 1)

    def play() -> None:
        for _ in range(games):
            kernel.playout(state, config, rng, limit)

    rate = games / best_seconds(play, 3)
    goal = f">= {PLAYOUT_GOALS[family]:,}" if family in PLAYOUT_GOALS else ""
    return Figure("kernels", f"{family} random games", rate, "games/s", goal=goal)


def _compilation(quick: bool) -> Iterator[Figure]:
    """Cold and warm starts; the cold one of the first family only, when it must be quick."""
    for number, family in enumerate(families()):
        line = [sys.executable, "-m", "arena", "perft", family, "--depth", "1", "--json"]
        is_cold, repeats = number == 0 or not quick, 1 if quick else 3
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, **({"NUMBA_CACHE_DIR": folder} if is_cold else {})}

            def start() -> None:
                subprocess.run(line, env=environment, check=True, capture_output=True)  # noqa: B023

            if is_cold:
                yield Figure("kernels", f"{family} cold start to perft 1", best_seconds(start, 1), "s", goal="< 25")
            yield Figure("kernels", f"{family} warm start to perft 1", best_seconds(start, repeats), "s", goal="< 1")
