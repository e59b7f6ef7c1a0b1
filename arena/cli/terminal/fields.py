"""Subcommands, and arguments made from the fields of a record: a query, the body of a request, what a command takes.

    @dataclass(frozen=True, kw_only=True)
    class PerftArguments(RulesArguments, Output):
        depth: int = option("count leaves at this depth", metavar="PLIES", default=MISSING)
        divide: bool = option("show the leaves below each move", default=False)

    def perft(arguments: PerftArguments) -> None: ...

A command is a function of such a record: its first parameter says which arguments the command has.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, field
from datetime import datetime
from functools import cache, partial
from typing import Any, Protocol, TypeAlias, get_type_hints

from arena.cli.terminal import argument
from arena.cli.terminal.parser import examples
from arena.documents import words
from arena.documents.query import PageQuery, QueryField, query_fields

Place: TypeAlias = argparse._ActionsContainer
"""A parser, or a group of its arguments: argparse has no public name for it."""
PAGING = tuple(field.name for field in query_fields(PageQuery))
NOT_FILTERS = (*PAGING, "sort", "order")
"""Fields that choose a part of a list and its order."""


def option(
    text: str,
    *names: str,
    default: Any = None,
    metavar: str = "",
    group: str = "",
    only_one: str = "",
    **settings: Any,
) -> Any:
    """Declare a field of a command's record: an option named after the field, unless `names` say otherwise.

    `text` is its help, `group` its heading there; `default` is MISSING for a required option, a tuple for one that may
    be repeated. Of the options with the same `only_one` one may be given; one must be if that ends with an exclamation
    mark. `settings` are those of argparse.
    """
    if metavar:
        settings["metavar"] = metavar
    about = {"description": text, "metavar": metavar, "group": group, "only_one": only_one, "option": " ".join(names)}
    return field(default=default, metadata={**about, "settings": settings})


def positional(text: str, metavar: str, *, default: Any = MISSING, **settings: Any) -> Any:
    """Declare a field of a command's record that is given by its place; a tuple takes all values that follow."""
    if default is not MISSING:
        settings = {"nargs": "*" if default == () else "?", **settings}
    return option(text, metavar, default=default, metavar=metavar, **settings)


def declared(declare: Callable[[Place], None], default: Any = None) -> Any:
    """Declare a field of a command's record whose arguments a function adds to the parser."""
    return field(default=default, metadata={"declare": declare})


def filters(query: type, *, without: Collection[str] = (), group: str = "") -> Any:
    """Declare a field of a command's record with the values given for the fields of a query, by name."""
    about = {
        "declare": lambda place: add_fields(place, query, without=without),
        "read": lambda arguments: read_filters(arguments, query, without=without),
        "group": group,
    }
    return field(default=None, metadata=about)


def add_fields(parser: Place, record: type, *, without: Collection[str] = ()) -> None:
    """Add an argument for each field of a record, in the groups that the fields name."""
    places: dict[str, Place] = {"": parser}
    for given in _fields(record, without):
        if given.group not in places:
            places[given.group] = parser.add_argument_group(given.group)
        if declare := given.bounds.get("declare"):
            declare(places[given.group])
            continue
        only_one = given.bounds.get("only_one", "")
        if only_one and only_one not in places:
            places[only_one] = places[given.group].add_mutually_exclusive_group(required=only_one.endswith("!"))
        _add(places[only_one or given.group], given)


def _add(place: Place, given: QueryField) -> None:
    more = given.bounds.get("settings", {})
    settings: dict[str, Any] = {"help": _help(given), "default": None if given.is_required else given.default}
    if given.kind is bool:
        settings["action"] = "store_true"
    elif given.choices:
        settings["choices"] = tuple(given.choices)
    elif "choices" not in more:
        settings |= {"type": _type(given), "metavar": given.metavar}
    settings |= more
    if not given.option.startswith("-"):
        place.add_argument(given.name, **settings | {"metavar": given.option})
        return
    if given.default == ():
        settings |= {"action": "append", "default": []}
    place.add_argument(*given.option.split(), dest=given.name, required=given.is_required, **settings)


def _help(given: QueryField) -> str:
    text = given.text.replace("%", "%%")
    if given.default in (None, False, "", ()) or given.is_required or "(default" in text:
        return text
    form = {int: ",", float: "g"}.get(type(given.default), "")
    return f"{text} (default {given.default:{form}})"


_BY_PATTERN: Mapping[str, Callable[[str], str]] = {
    words.FAMILY["pattern"]: argument.family,
    words.NAME["pattern"]: argument.name,
    words.ENTRY["pattern"]: argument.entry,
}


def _type(given: QueryField) -> Callable[[str], Any]:
    if given.kind is int:
        least, most = given.bounds.get("ge", 0), given.bounds.get("le", argument.MAX_NUMBER)
        return partial(argument.between, least=least, most=most)
    if read := _BY_PATTERN.get(given.bounds.get("pattern", "")):
        return read
    return str if given.kind is datetime else given.kind  # the server reads times


def read_fields(arguments: argparse.Namespace, record: type, *, without: Collection[str] = ()) -> dict[str, Any]:
    """Return the values given for a record's fields, by name."""
    values: dict[str, Any] = {}
    for given in _fields(record, without):
        read = given.bounds.get("read")
        value = read(arguments) if read else getattr(arguments, given.name)
        values[given.name] = tuple(value) if isinstance(value, list) else value
    return values


def given_words(values: Any, *only: str) -> list[str]:
    """Return the options by which a command gets these values of a record, or `only` some: none for the defaults."""
    record: type = type(values)
    words: list[str] = []
    for given in query_fields(record):
        value = getattr(values, given.name)
        if value == given.default or (only and given.name not in only):
            continue
        option = given.option.split()[-1]
        if given.kind is bool:
            words.append(option)
            continue
        for text in value if isinstance(value, tuple) else (value,):
            words += [option, str(text)]
    return words


def read_filters(arguments: argparse.Namespace, query: type, *, without: Collection[str] = PAGING) -> dict[str, Any]:
    """Return the values given for a query's fields, by name; an empty text becomes None, which means any value."""
    given = read_fields(arguments, query, without=without)
    return {name: None if value == "" else value for name, value in given.items()}


def _fields(record: type, without: Collection[str]) -> list[QueryField]:
    return [given for given in query_fields(record) if given.name not in without]


@cache
def record_of(act: Callable[..., int | None]) -> type | None:
    """Return the record of a command's function, the type of its first parameter; None if that is a Namespace."""
    record = next(iter(get_type_hints(act).values()))
    return None if record is argparse.Namespace else record


class Actions:
    """The subcommands of a parser's command; one must be chosen."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self._choices = parser.add_subparsers(dest="action", required=True)

    def add(
        self,
        name: str,
        act: Callable[..., int | None] | DeclaredCommand,
        meaning: str,
        *lines: str,
        description: str | None = None,
    ) -> argparse.ArgumentParser:
        """Return the parser of a new subcommand with one line of help and examples.

        `act` runs the subcommand, and says which arguments it takes, see `arena.cli.terminal.fields`.
        """
        parser: argparse.ArgumentParser = self._choices.add_parser(
            name, help=meaning, description=description, epilog=examples(lines)
        )
        declare(parser, act)
        self._choices.metavar = "|".join(self._choices.choices)
        return parser


class DeclaredCommand(Protocol):
    """A command as an object, which declares its arguments itself."""

    def declare(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments."""

    def run(self, arguments: argparse.Namespace) -> int | None:
        """Do the work, and return an exit code; None for 0."""


def declare(parser: argparse.ArgumentParser, act: Callable[..., int | None] | DeclaredCommand) -> None:
    """Let a parser take what a command takes, and run that command."""
    if not callable(act):
        act.declare(parser)
        act = act.run
    elif record := record_of(act):
        add_fields(parser, record)
    parser.set_defaults(act=act)


def run(arguments: argparse.Namespace) -> int:
    """Run the function of the chosen command with its record, and return its exit code: 0 if it returns none."""
    record = record_of(arguments.act)
    return int(arguments.act(record(**read_fields(arguments, record)) if record else arguments) or 0)
