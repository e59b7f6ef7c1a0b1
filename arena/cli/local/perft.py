"""`arena perft`: count the leaves of the game tree, and report the speed."""

from __future__ import annotations

import argparse
import time

from arena.cli.terminal import argument, output
from arena.cli.terminal.exit import Exit
from arena.cli.terminal.interrupt import interruptible
from arena.cli.terminal.printer import Printer, add_output


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    argument.add_rules(parser)
    argument.add_position(parser)
    parser.add_argument(
        "--depth", metavar="PLIES", type=argument.whole, required=True, help="count leaves at this depth"
    )
    parser.add_argument("--divide", action="store_true", help="show the leaves below each move")
    add_output(parser)


def run(arguments: argparse.Namespace) -> int:
    """Count the leaves and print the result. Repetition and limits are ignored; a finished position has no children."""
    import numpy as np

    from referee.rules.perft import perft

    start = argument.start(arguments)
    ruleset, depth = start.ruleset, arguments.depth
    kernel, config = ruleset.rules.kernel, ruleset.config
    perft(ruleset, start.state, 1)  # compiles, or loads from the cache: not part of the time
    parts: dict[str, int] = {}
    started = time.perf_counter()
    if arguments.divide and depth > 0:
        buffer = np.empty(kernel.MAX_MOVES, dtype=np.int64)
        for code in buffer[: kernel.legal(start.state, config, buffer)].tolist():
            after = np.empty_like(start.state)
            kernel.play(start.state, config, code, after)
            parts[ruleset.rules.notation.write_move(code)] = interruptible(perft, ruleset, after, depth - 1)
        nodes = sum(parts.values())
    else:
        nodes = interruptible(perft, ruleset, start.state, depth)
    seconds = time.perf_counter() - started
    speed = nodes / seconds if seconds else 0.0
    parts = dict(sorted(parts.items()))
    lines = [f"{move}: {below:,}" for move, below in parts.items()]
    lines.append(f"{nodes:,} leaves at depth {depth} in {seconds:.3f} s, {speed:,.0f} per second")
    Printer(arguments).result(
        {"nodes": nodes, "seconds": seconds, "nodes_per_second": speed, "divide": parts}, lambda: output.text(*lines)
    )
    return Exit.DONE
