"""The parser of the command line, which loads a command's module when it is used.

Help for everything is printed without importing a single command.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Sequence
from typing import Any, NoReturn

from arena.cli.terminal.commands import GROUPS, every
from arena.cli.terminal.exit import CommandError
from arena.feature import Command
from referee.errors import did_you_mean, near

_EPILOG = """\
Exit codes: 0 done, 1 failed, 2 usage, 3 not found, 4 refused, 5 unreachable,
130 interrupted, 141 output unread.
"arena COMMAND --help" shows the arguments and examples of one command."""


MAX_OPTIONS_OF_USAGE = 10
_KINDS = {"int": "a whole number", "float": "a number"}


def shown(value: object) -> str:
    """Quote user input, shortened if long."""
    words = str(value)
    return f'"{words[:60]}…"' if len(words) > 60 else f'"{words}"'


def examples(lines: Sequence[str]) -> str:
    """Return the end of a help text: examples of command lines."""
    return "examples:\n" + "\n".join(f"  {line}" for line in lines) if lines else ""


class Parser(argparse.ArgumentParser):
    """An argument parser that raises instead of exiting; on first use, its command's module declares the arguments."""

    def __init__(self, *args: Any, command: Command | None = None, **kwargs: Any) -> None:
        kwargs.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        kwargs.setdefault("allow_abbrev", False)
        super().__init__(*args, **kwargs)
        self._command = command
        self._actions_of: Any = None
        self.add_argument(
            "-q", "--quiet", action="store_true", default=argparse.SUPPRESS, help="print no notes and no progress"
        )
        self.add_argument(
            "-v", "--verbose", action="store_true", default=argparse.SUPPRESS, help="show the traceback of an error"
        )

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the arguments. The first call loads the command's module."""
        self.fill()
        return super().parse_known_args(args, namespace)

    def fill(self) -> None:
        """Let the command's module declare its arguments, once."""
        if self._command is not None:
            command, self._command = self._command, None
            from arena.cli.terminal import fields

            module = _load(command)
            self.set_defaults(run=fields.run)
            if add := getattr(module, "add", None) or getattr(module, f"add_{command.name}", None):
                add(self)
            if act := getattr(module, "run", None) or (None if add else getattr(module, command.name)):
                fields.declare(self, act)

    def format_help(self) -> str:
        """Format the help; the usage of a command with many options names only the required ones."""
        options = self._get_optional_actions()
        if self.usage is None and len(options) > MAX_OPTIONS_OF_USAGE:
            parts = [f"{option.option_strings[-1]} {option.metavar}" for option in options if option.required]
            formatter = self._get_formatter()
            formatter.add_usage(None, self._get_positional_actions(), [], prefix="")
            words = formatter.format_help().split()
            self.usage = " ".join(
                [*words[: len(self.prog.split())], "[OPTIONS]", *parts, *words[len(self.prog.split()) :]]
            )
        return super().format_help()

    def fill_all(self) -> None:
        """Let the modules of all commands declare their arguments, and list the commands."""
        self.fill()
        if self._actions_of is not None:
            self._actions_of.help = "command"
            for parser in self._actions_of.choices.values():
                parser.fill_all()

    def options_near(self, option: str, words: Sequence[str]) -> list[str]:
        """Return the most similar option of the commands in `words`."""
        import difflib  # only for slips

        if not option.startswith("--"):
            return []
        known = [text for parser in self.chain(words) for text in parser._option_string_actions]
        return difflib.get_close_matches(option, [text for text in known if text.startswith("--")], n=1, cutoff=0.7)

    def chain(self, words: Sequence[str]) -> list[Parser]:
        """Return this parser and those of the commands in `words`, the most special one last."""
        parsers = [self]
        for word in words:
            actions = parsers[-1]._actions_of
            if actions is not None and word in actions.choices:
                parsers.append(actions.choices[word])
        return parsers

    def error(self, message: str) -> NoReturn:
        """Raise CommandError for a usage error."""
        message = message.removeprefix("argument ")
        for kind, meant in _KINDS.items():
            message = message.replace(f"invalid {kind} value: ", f"not {meant}: ")
        if self._actions_of and message.endswith(f": {self._actions_of.metavar}"):
            message = f"missing subcommand: choose from {', '.join(self._actions_of.choices)}"
        message = message.replace("the following arguments are required: ", "missing: ")
        raise CommandError(f'{message}; see "{self.prog} --help"')

    def add_subparsers(self, **kwargs: Any) -> Any:
        """Add the subcommands and remember them for error messages."""
        self._actions_of = super().add_subparsers(**kwargs)
        return self._actions_of

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Check a value; the error for an unknown one names the most similar and all permitted values."""
        if action.choices is None or value in action.choices:
            return
        known = [str(choice) for choice in action.choices]
        similar = near(str(value), known)
        advice = (
            f"{did_you_mean(similar)} Choose from {', '.join(known)}" if similar else f"choose from {', '.join(known)}"
        )
        if action is self._actions_of:
            raise CommandError(f'unknown subcommand {shown(value)} of "{self.prog}"; {advice}')
        raise argparse.ArgumentError(action, f"{shown(value)} is not valid; {advice}")


def _load(command: Command) -> Any:
    try:
        return importlib.import_module(command.module)
    except ModuleNotFoundError as error:
        if error.name != command.module:
            raise
        raise CommandError(f'the command "{command.name}" is not part of this installation') from None


def find(name: str) -> Command:
    """Return the command of that name. Raises CommandError with similar names, or with all names."""
    for command in every():
        if command.name == name:
            return command
    names = [command.name for command in every()]
    advice = did_you_mean(near(name, names)) or "commands: " + ", ".join(names)
    raise CommandError(f"unknown command {shown(name)}; {advice}")


def overview() -> str:
    """Format the names and help of all commands in groups."""
    width = max(len(command.name) for command in every())
    parts = []
    for group, title in GROUPS.items():
        lines = [f"  {command.name:<{width}}  {command.help}" for command in every() if command.group == group]
        if lines:
            parts.append("\n".join([f"{title}:", *lines]))
    return "\n\n".join(parts)


def build(only: Command | None = None) -> Parser:
    """Return the parser of the whole command line or, sooner, of one command. No command is imported."""
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
    for command in [only] if only else every():
        commands.add_parser(
            command.name,
            help=command.help,
            description=command.about or command.help[0].upper() + command.help[1:] + ".",
            epilog=examples(command.examples),
            command=command,
        )
    return parser
