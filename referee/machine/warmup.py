"""Compiles the kernels of a family in this process: every function is called once, as the program calls it.

Functions in the cache are loaded, the others are compiled into it.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from referee.rules import load
from referee.rules.cache import IS_COMPILED
from referee.rules.history import LineOfPlay
from referee.rules.per_family import perft


@dataclass(frozen=True, slots=True)
class Warmed:
    """The result of compiling one family: functions compiled now, and functions found in the cache."""

    family: str
    compiled: int
    cached: int
    seconds: float


def is_cold(family: str) -> bool:
    """Return whether the functions of a family still have to be compiled on this machine."""
    spec = importlib.util.find_spec(load(family).kernel_module)
    if not IS_COMPILED or spec is None or spec.origin is None:
        return False
    from referee.rules.jit import cache_folder

    # The cache file of the function that `warm` calls last, as compiled by this version of Python.
    last = f"*.evaluate-*.py{sys.version_info.major}{sys.version_info.minor}.*"
    return not any(cache_folder(str(Path(spec.origin).parent)).rglob(last))


def get_ready(family: str) -> None:
    """Load or compile only the functions of the kernel that a game of the family uses."""
    ruleset = load(family).settle()
    LineOfPlay(ruleset).push(-1)  # no move has a negative code


def warm_with_solver(family: str) -> Warmed:
    """Call every function of a family's kernel and of its solver once."""
    from referee.rules.per_family import loaded
    from referee.solver.solver import compile_solver

    started, warmed = time.perf_counter(), warm(family)
    compile_solver(load(family).settle())
    proof = loaded("referee.solver", "proof_search", family)
    statistics = [function.stats for function in vars(proof).values() if hasattr(function, "stats")]
    return Warmed(
        family,
        compiled=warmed.compiled + sum(sum(stats.cache_misses.values()) for stats in statistics),
        cached=warmed.cached + sum(sum(stats.cache_hits.values()) for stats in statistics),
        seconds=round(time.perf_counter() - started, 3),
    )


def warm(family: str) -> Warmed:
    """Call every function of a family's kernel once, and perft and a ply of a game with that kernel."""
    started = time.perf_counter()
    ruleset = load(family).settle()
    kernel, config, state = ruleset.rules.kernel, ruleset.config, ruleset.read()
    moves = np.empty(kernel.MAX_MOVES, dtype=np.int64)
    count = kernel.legal(state, config, moves)
    kernel.count(state, config)
    if count:
        kernel.play(state, config, int(moves[0]), np.empty_like(state))
    kernel.result(state, config, 1, 0)
    perft(ruleset, state, 1)
    get_ready(family)
    kernel.playout(state, config, np.array([1], dtype=np.uint64), 1)
    kernel.evaluate(state, config)
    statistics = [function.stats for function in vars(kernel).values() if hasattr(function, "stats")]
    return Warmed(
        family,
        compiled=sum(sum(stats.cache_misses.values()) for stats in statistics),
        cached=sum(sum(stats.cache_hits.values()) for stats in statistics),
        seconds=round(time.perf_counter() - started, 3),
    )
