"""`arena playouts`: play uniformly random games in the kernel, and count their results."""

from __future__ import annotations

import argparse
import time
from collections import Counter

from arena.cli.terminal import argument, output
from arena.cli.terminal.exit import Exit
from arena.cli.terminal.printer import Printer, add_output

MAX_PLIES = 10_000
"""The default limit of a random game: far above what any family's random games last."""


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    argument.add_rules(parser)
    argument.add_position(parser)
    parser.add_argument(
        "--games", metavar="COUNT", type=argument.positive, required=True, help="number of games to play"
    )
    parser.add_argument(
        "--seed",
        metavar="SEED",
        type=argument.whole,
        default=1,
        help="seed of the random moves; the same seed gives the same games (default 1)",
    )
    parser.add_argument(
        "--max-plies", metavar="PLIES", type=argument.positive, default=MAX_PLIES, help=f"default {MAX_PLIES:,}"
    )
    add_output(parser)


def run(arguments: argparse.Namespace) -> int:
    """Play the games and print the results. Repetition is ignored; at the limit of plies a game stays unfinished."""
    import numpy as np

    from referee.rules.position import outcome_of

    ruleset = argument.settle(arguments)
    state, kernel, config = ruleset.read(arguments.position), ruleset.rules.kernel, ruleset.config
    rng = np.array([arguments.seed], dtype=np.uint64)
    kernel.playout(state, config, rng.copy(), 1)  # compiles, or loads from the cache: not part of the time
    codes: Counter[int] = Counter()
    plies = 0
    started = time.perf_counter()
    for number in range(arguments.games):
        code, length = kernel.playout(state, config, rng, arguments.max_plies)
        codes[int(code)] += 1
        plies += int(length)
        if number % 1000 == 999:
            output.progress(f"{number + 1:,} of {arguments.games:,} games")
    seconds = time.perf_counter() - started
    output.progress("")
    results = {"first": 0, "second": 0, "draw": 0, "unfinished": 0}
    reasons: Counter[str] = Counter()
    for code, count in codes.items():
        outcome = outcome_of(ruleset, code)
        results[outcome.winner if outcome else "unfinished"] += count
        if outcome:
            reasons[outcome.reason.value] += count
    speed = plies / seconds if seconds else 0.0
    lines = (
        f"{arguments.games:,} games, {plies:,} plies in {seconds:.3f} s, {speed:,.0f} plies per second",
        f"plies per game {plies / arguments.games:.1f}, seed {arguments.seed}",
        ", ".join(f"{word} {count:,}" for word, count in results.items()),
        ", ".join(f"{reason} {count:,}" for reason, count in reasons.most_common()) or "no game finished",
    )
    Printer(arguments).result(
        {
            "games": arguments.games,
            "plies": plies,
            "seconds": seconds,
            "plies_per_second": speed,
            "results": results,
            "reasons": dict(sorted(reasons.items())),
            "seed": arguments.seed,
        },
        lambda: output.text(*lines),
    )
    return Exit.DONE
