"""`python -m bots.warm [FAMILY…]`: compile the searches of the sample bots into the cache, so that no game waits.

What is cached already is only loaded.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from bots.sdk import Bot, families
from referee.rules.compilation import when_compiling

SEARCHERS = ("bots.alphabeta.AlphaBeta", "bots.mcts.MonteCarlo")
"""The sample bots that have compiled code of their own."""


def warm(bot: Bot, family: str) -> float:
    """Let a bot load or compile what it needs for a family; the seconds it took."""
    from bots.table import Table

    began = time.monotonic()
    bot.warm_up(Table(family).start())
    return time.monotonic() - began


def _tell(*words: str) -> None:
    """What is compiled from now on, for whoever started this."""
    print("compiling", *words, file=sys.stderr, flush=True)


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    import importlib

    parser = argparse.ArgumentParser(prog="python -m bots.warm", description="Compile the sample bots' searches.")
    parser.add_argument("family", nargs="*", help="default: all of them")
    wanted = parser.parse_args(argv).family or families()
    when_compiling(lambda function: _tell(bot.name, function), ("bots", "referee"))
    for family in wanted:
        if family not in families():
            parser.error(f"unknown family {family!r}; known: {', '.join(families())}")
        for path in SEARCHERS:
            module, _, name = path.rpartition(".")
            bot: Bot = getattr(importlib.import_module(module), name)()
            _tell(bot.name)
            sys.stderr.write(f"{family} {bot.name}: {warm(bot, family):.1f} s\n")


if __name__ == "__main__":
    main()
