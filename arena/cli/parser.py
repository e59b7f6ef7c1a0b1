"""The parser of the command line, which loads a command's module when it is used.

Help for everything is printed without importing a single command. Refuses to know what the commands do.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
from typing import Any, NoReturn

from arena.cli.actions import examples, run_action
from arena.cli.commands import COMMANDS, GROUPS, Command
from arena.cli.exit import CommandError

_EPILOG = """\
Exit codes: 0 done, 1 failed, 2 usage, 3 not found, 4 refused, 5 unreachable, 130 interrupted.
"arena COMMAND --help" shows the arguments and examples of one command."""


class Parser(argparse.ArgumentParser):
    """An argument parser that raises instead of exiting, and fills itself from its command's module on first use."""

    def __init__(self, *args: Any, command: Command | None = None, **kwargs: Any) -> None:
        kwargs.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        kwargs.setdefault("allow_abbrev", False)
        super().__init__(*args, **kwargs)
        self._command = command
        self.add_argument("-q", "--quiet", action="store_true", default=argparse.SUPPRESS, help="no talk on stderr")
        self.add_argument(
            "-v", "--verbose", action="store_true", default=argparse.SUPPRESS, help="show where an error came from"
        )

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse; the first time, load the command's module and let it declare its arguments."""
        if self._command is not None:
            command, self._command = self._command, None
            module = _load(command)
            self.set_defaults(run=getattr(module, "run", run_action))
            module.add(self)
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Usage errors end like every other error."""
        raise CommandError(f'{message}; see "{self.prog} --help"')


def _load(command: Command) -> Any:
    try:
        return importlib.import_module(command.module)
    except ModuleNotFoundError as error:
        if error.name != command.module:
            raise
        raise CommandError(f'the command "{command.name}" is not part of this installation') from None


def find(name: str) -> Command:
    """The command of that name. Raises CommandError with the nearest names."""
    for command in COMMANDS:
        if command.name == name:
            return command
    names = [command.name for command in COMMANDS]
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    advice = "did you mean " + " or ".join(near) if near else "commands: " + ", ".join(names)
    raise CommandError(f'unknown command "{name}"; {advice}')


def overview() -> str:
    """The names and help of all commands, in groups."""
    width = max(len(command.name) for command in COMMANDS)
    parts = []
    for group, title in GROUPS.items():
        lines = [f"  {command.name:<{width}}  {command.help}" for command in COMMANDS if command.group == group]
        if lines:
            parts.append("\n".join([f"{title}:", *lines]))
    return "\n\n".join(parts)


def build() -> Parser:
    """The parser of the whole command line. No command is imported."""
    parser = Parser(
        prog="arena",
        usage="arena [-h] [--version] COMMAND ...",
        description=f"Tournaments and ratings for bots of board games.\n\n{overview()}",
        epilog=_EPILOG,
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands = parser.add_subparsers(
        dest="command", metavar="COMMAND", prog="arena", parser_class=Parser, help=argparse.SUPPRESS
    )
    for command in COMMANDS:
        commands.add_parser(
            command.name,
            help=command.help,
            description=command.help[0].upper() + command.help[1:] + ".",
            epilog=examples(command.examples),
            command=command,
        )
    return parser
