"""`python -m bots.samples.warmup [FAMILY…] [--bot NAME …]`: compile the sample bots before games need them.

Functions that are already in the cache are only loaded.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from bots.sdk import Bot, families
from referee.rules.cache import when_compiling

SAMPLES = {
    "random": "bots.samples.random_mover.RandomMover",
    "greedy": "bots.samples.greedy.Greedy",
    "alphabeta": "bots.samples.alphabeta.AlphaBeta",
    "mcts": "bots.samples.mcts.MonteCarlo",
    "champion": "bots.samples.champion.Champion",
}
"""The sample bots by name, those with most to compile last."""


def warm(bot: Bot, family: str) -> float:
    """Let a bot load or compile its code for a family; return the seconds it took."""
    from bots.sdk.game_state import GameState

    began = time.monotonic()
    bot.warm_up(GameState(family).start())
    return time.monotonic() - began


def _report(*words: str) -> None:
    """Print the name of the next function to compile, for the parent process."""
    print("compiling", *words, file=sys.stderr, flush=True)


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line."""
    import importlib

    parser = argparse.ArgumentParser(
        prog="python -m bots.samples.warmup", description="Compile the code of the sample bots."
    )
    parser.add_argument("family", nargs="*", help="families to compile (default: all)")
    parser.add_argument("--bot", action="append", choices=SAMPLES, help="compile only for this bot; may be repeated")
    arguments = parser.parse_args(argv)
    wanted = arguments.family or families()
    when_compiling(lambda function: _report(bot.name, function), ("bots", "referee"))
    for family in wanted:
        if family not in families():
            parser.error(f"unknown family {family!r}; known: {', '.join(families())}")
        for path in (SAMPLES[name] for name in arguments.bot or SAMPLES):
            module, _, name = path.rpartition(".")
            bot: Bot = getattr(importlib.import_module(module), name)()
            _report(bot.name)
            sys.stderr.write(f"{family} {bot.name}: {warm(bot, family):.1f} s\n")


if __name__ == "__main__":
    main()
