"""Declares the subcommands of a command, in the same way for all commands."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence


def examples(lines: Sequence[str]) -> str:
    """Return the end of a help text: examples of command lines."""
    return "examples:\n" + "\n".join(f"  {line}" for line in lines) if lines else ""


def run_action(arguments: argparse.Namespace) -> int:
    """Run the chosen subcommand."""
    return int(arguments.act(arguments))


class Actions:
    """The subcommands of a parser's command; one must be chosen."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self._choices = parser.add_subparsers(dest="action", required=True)

    def add(
        self,
        name: str,
        act: Callable[..., int],
        meaning: str,
        *lines: str,
        description: str | None = None,
    ) -> argparse.ArgumentParser:
        """Return the parser of a new subcommand with one line of help and examples.

        `act` runs the subcommand; `run_action` or the command's own `run` calls it with the arguments.
        """
        parser: argparse.ArgumentParser = self._choices.add_parser(
            name, help=meaning, description=description, epilog=examples(lines)
        )
        parser.set_defaults(act=act)
        self._choices.metavar = "|".join(self._choices.choices)
        return parser
