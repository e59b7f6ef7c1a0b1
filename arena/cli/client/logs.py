"""`arena logs GAME --side first|second`: show what your bot wrote to standard error."""

from __future__ import annotations

import argparse

from arena.cli.source import remote
from arena.cli.terminal import output
from arena.cli.terminal.exit import Exit
from arena.cli.terminal.printer import Printer, add_output


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("game", metavar="GAME", help="id of the game")
    parser.add_argument("--side", choices=("first", "second"), required=True, help="side of your bot: first or second")
    remote.add_server(parser)
    add_output(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the tail of the log unchanged."""
    found = remote.client(arguments).get(f"/games/{arguments.game}/logs/{arguments.side}")

    def show() -> None:
        if found["log"]:
            output.text(found["log"].rstrip("\n"))
        else:
            output.note(f"{found['name']} wrote nothing to standard error")

    Printer(arguments).result(found, show)
    return Exit.DONE
