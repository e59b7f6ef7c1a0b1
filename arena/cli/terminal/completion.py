"""`arena completion bash|zsh|fish`: print a script that completes commands, options and values in a shell."""

from __future__ import annotations

import argparse

from arena.cli.terminal import output
from arena.cli.terminal.parser import build

SHELLS = ("bash", "zsh", "fish")


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))


def run(arguments: argparse.Namespace) -> None:
    """Print the script. Names of bots and games are not completed: they would need the server."""
    import shtab

    parser = build()
    parser.fill_all()
    output.text(shtab.complete(parser, arguments.shell).rstrip("\n"))
