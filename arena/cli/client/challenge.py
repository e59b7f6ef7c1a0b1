"""`arena challenge`: start a match of your remote bot."""

from __future__ import annotations

import argparse

from arena.cli.source import remote
from arena.cli.terminal import argument, output
from arena.cli.terminal.exit import Exit
from arena.cli.terminal.printer import Printer, add_output


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "opponent",
        metavar="OPPONENT",
        help="opponent: a sample, another bot of yours, or a bot that is open to challenges",
    )
    parser.add_argument("--bot", required=True, metavar="NAME", help="your bot, which must be connected")
    parser.add_argument("--family", required=True, metavar="FAMILY", type=argument.family, help="family of games")
    parser.add_argument("--variant", metavar="VARIANT", help="variant of the family (default: its first)")
    parser.add_argument(
        "--games", metavar="COUNT", type=argument.positive, default=2, help="play COUNT games (default 2)"
    )
    parser.add_argument("--tc", metavar="TIME", default="10+0.1", help="time control (default 10+0.1)")
    remote.add_server(parser)
    add_output(parser)


def run(arguments: argparse.Namespace) -> int:
    """Start it."""
    body = {
        "opponent": arguments.opponent,
        "family": arguments.family,
        "games": arguments.games,
        "time": arguments.tc,
    }
    if arguments.variant:
        body["variant"] = arguments.variant
    found = remote.client(arguments).ask("POST", f"/bots/{arguments.bot}/challenges", body=body).data
    Printer(arguments).result(found, lambda: output.text(f"tournament {found['id']}: {found['name']}"))
    output.note(f"follow it with: arena tournament watch {found['id']}")
    return Exit.DONE
