"""The commands that notes and errors name, completed so that they work as they are copied: with the arena of this one.

A message is worded deep in the store, or by a server: neither knows the command line that runs.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

_COMMAND = re.compile(r"`arena ([^`\n]+)`")
PLACES = ("data", "config", "database", "server")
"""Options that choose an arena."""


class PrintedCommands:
    """Completes commands by the options that choose the arena of the command line that runs."""

    def __init__(self, chosen: Mapping[str, str]) -> None:
        self._chosen = chosen

    def completed(self, message: str) -> str:
        """Return a message in which every command names the arena, unless it names one."""
        return (
            _COMMAND.sub(lambda command: f"`arena {self._complete(command[1])}`", message) if self._chosen else message
        )

    def _complete(self, line: str) -> str:
        try:
            words = shlex.split(line)
        except ValueError:  # a quotation that a text cut
            return line
        known = options_of(words)
        if {f"--{name}" for name in PLACES} & {word.partition("=")[0] for word in words} or "--help" in words:
            return line
        head, separator, rest = re.split(r"( > | \| |$)", line, maxsplit=1)
        more = "".join(
            f" --{name} {shlex.quote(value)}" for name, value in self._chosen.items() if f"--{name}" in known
        )
        return f"{head}{more}{separator}{rest}"


def options_of(words: list[str]) -> set[str]:
    """Return the options of the command that `words` begin with; none for an unknown one."""
    from arena.cli.terminal.commands import every
    from arena.cli.terminal.parser import build

    parser = build(next((command for command in every() if [command.name] == words[:1]), None))
    for word in words:
        parser.fill()
        if parser._actions_of is None or word not in parser._actions_of.choices:
            break
        parser = parser._actions_of.choices[word]
    parser.fill()
    return set(parser._option_string_actions)
