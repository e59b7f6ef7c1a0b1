"""`arena demo`: play every family with the sample bots, rate them, and serve pages, without any setup."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from arena.cli.terminal import argument
from arena.cli.terminal.argument import refuse_concurrency


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--once", action="store_true", help="exit after the games, and serve no pages")
    parser.add_argument(
        "--games", type=_games, default=2, metavar="COUNT", help="play COUNT games per pairing (default 2)"
    )
    parser.add_argument("--tc", default="0.5+0.02", metavar="TIME", help="time control (default 0.5+0.02)")
    parser.add_argument(
        "--family",
        action="append",
        metavar="FAMILY",
        type=argument.family,
        help="play only this family; may be repeated (default: all)",
    )
    parser.add_argument(
        "--concurrency",
        type=argument.positive,
        default=os.cpu_count() or 1,
        metavar="COUNT",
        help="play COUNT games at once (default: one per processor)",
    )
    parser.add_argument("--data", type=Path, default=Path("data"), metavar="DIR", help="data folder (default ./data)")
    parser.add_argument("--bind", default="127.0.0.1", metavar="HOST", help="address of the pages (default 127.0.0.1)")
    parser.add_argument(
        "--port",
        type=argument.port,
        default=8000,
        metavar="PORT",
        help="port of the pages (default 8000, 0 = a free one)",
    )


def _games(text: str) -> int:
    """Parse a number of games per pairing, at most that of a tournament."""
    return argument.between(text, 1, 1000)


def run(arguments: argparse.Namespace) -> int:
    """Play games, print results, serve pages. Invalid arguments are rejected before anything is opened or compiled."""
    from referee.game.spec import read_time_control
    from referee.rules import families, load

    refuse_concurrency(arguments.concurrency)
    names = arguments.family or list(families())
    for name in names:
        load(name)
    read_time_control(arguments.tc)
    from arena.cli.server.demo_run import play_and_show

    return play_and_show(list(dict.fromkeys(names)), arguments)
