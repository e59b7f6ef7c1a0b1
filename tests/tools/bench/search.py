"""Speed of the searches: nodes per second of processor time, in positions of seeded random games.

Every position is searched deeper and deeper to a limit of nodes, as a bot does with `go nodes`. Plies of random games,
which need neither scores nor a table, are the baseline.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from bots.search import earlier_keys, search
from bots.search.net import PLAIN, empty_net, load_net
from referee.rules import families, load
from referee.rules.position import Position
from referee.rules.rules import Ruleset
from tests.tools.bench.figure import Figure

GOALS = {"abalone": 7.4, "loa": 2.4, "pijersi": 3.2, "tablut": 2.4}
"""Million nodes per second of alpha-beta: what is aimed at."""
GAMES = 4
AFTER = range(8, 48, 8)
"""Plies of each of these games after which its position is searched."""
HASH = 16 << 20
PLIES = 200
"""Of a random game of the baseline, at most."""


def positions(ruleset: Ruleset) -> list[Position]:
    """Positions of random games that still go on there, the same ones every time."""
    sample = []
    for seed in range(GAMES):
        rng, at = random.Random(seed), Position.start(ruleset)
        for ply in range(1, AFTER.stop):
            after = at.play(rng.choice(at.moves))
            at = at if after.outcome else after  # a move that ends the game is not played
            if ply in AFTER:
                sample.append(at)
    return sample


def nodes_per_second(is_learned: bool, ruleset: Ruleset, sample: list[Position], nodes: int) -> float:
    """How fast the search is in these positions, with a limit of nodes, with learned weights or without."""
    family, config = ruleset.rules.family, ruleset.config
    s: Any = search("alphabeta", family)
    search_state = s.new_search_state(HASH, load_net(ruleset) if is_learned else empty_net(None, PLAIN))
    total, seconds = 0, 0.0
    for limit, some in ((100, sample[:1]), (nodes, sample)):  # the first compiles, or loads what is compiled
        total, seconds = 0, 0.0
        for position in some:
            side = 0 if position.side == "first" else 1
            s.start_search(search_state, earlier_keys(position), position.state, side, position.moves[0])
            search_state.work[s.GENERATION] += 1
            search_state.work[s.NODE_LIMIT] = limit
            begin, depth = time.thread_time(), 1
            while not search_state.work[s.ABORTED] and depth <= s.MAX_DEPTH:
                s.search_iteration(search_state, config, depth)
                depth += 1
            seconds += time.thread_time() - begin
            total += int(search_state.work[s.NODES])
    return total / seconds


def plies_per_second(ruleset: Ruleset, found: list[Position], games: int) -> float:
    """How fast random games go on from the same positions."""
    playout, rng = ruleset.rules.kernel.playout, np.array([1], dtype=np.uint64)
    playout(found[0].state, ruleset.config, rng, 1)
    begin = time.thread_time()
    plies = sum(int(playout(at.state, ruleset.config, rng, PLIES)[1]) for at in found for _ in range(games))
    return plies / (time.thread_time() - begin)


def run(quick: bool) -> Iterator[Figure]:
    """A figure for each search in each family."""
    for family in families():
        ruleset = load(family).settle()
        sample = positions(ruleset)
        baseline = plies_per_second(ruleset, sample, 10 if quick else 50) / 1e6
        for name in ("alphabeta", "champion"):
            rate = nodes_per_second(name == "champion", ruleset, sample, 20_000 if quick else 200_000) / 1e6
            goal = f">= {GOALS[family]:g}" if name == "alphabeta" and family in GOALS else ""
            yield Figure("search", f"{family} {name}", rate, "M nodes/s", "plies of random games", baseline, goal)
