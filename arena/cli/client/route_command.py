"""Commands that are one request to a server, made from the declarations of its route and of its documents.

A command names its route as `METHOD /path/{parameter}`, and the records of the query and the body that the route takes:
the arguments follow from their fields, tables from the columns. A test compares each of them with the registry of
routes, which is not imported here, because a command should start in a tenth of a second.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from arena.cli.source import remote
from arena.cli.terminal import argument, output
from arena.cli.terminal.fields import PAGING, Actions, add_fields, read_filters
from arena.cli.terminal.printer import Printer, add_output
from arena.documents.table import Column

PARAMETERS: Mapping[str, Mapping[str, Any]] = {
    "bot": {"metavar": "NAME", "type": argument.name, "help": "name of the bot"},
    "family": {"metavar": "FAMILY", "type": argument.family, "help": 'family of games; "arena rules list" shows them'},
    "game": {"metavar": "ID", "help": "id of the game"},
    "schedule": {"metavar": "ID", "type": argument.positive, "help": "number of the schedule"},
    "tournament": {"metavar": "ID", "type": argument.positive, "help": "number of the tournament"},
}
"""The arguments for the parameters of paths."""


@dataclass(frozen=True, slots=True)
class RouteCommand:
    """A command that sends one request, and prints what comes back.

    A list is printed in `columns`, from items of the type `item`, or the note `empty`. `limit` is its usual length, 0
    for all; without it the route takes none. Of a document `show` prints what people read, or its `members` are
    printed, then the `note`, a function of the document; CSV and NDJSON print the list `items` in it. A route with
    `forms`, media types by name, gives a file.
    """

    name: str
    route: str
    help: str = ""
    examples: Sequence[str] = ()
    query: type | None = None
    body: type | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    """The help of the parameters of the path that are options."""
    without: Sequence[str] = PAGING
    item: type = dict
    columns: Iterable[Column[Any]] = ()
    empty: str = ""
    limit: int | None = None
    members: Sequence[str] = ()
    show: Callable[[Any], None] | None = None
    items: str = ""
    note: Callable[[Any], str] | None = None
    forms: Mapping[str, str] | None = None

    @property
    def parameters(self) -> list[str]:
        return [part[1:-1] for part in self.route.split("/") if part.startswith("{")]

    def declare(self, parser: argparse.ArgumentParser) -> None:
        for name in self.parameters:
            if name in self.options:
                settings = {**PARAMETERS[name], "help": self.options[name]}
                parser.add_argument(f"--{name}", required=True, **settings)
            else:
                parser.add_argument(name, **PARAMETERS[name])
        for record, without in ((self.query, self.without), (self.body, ())):
            if record:
                add_fields(parser, record, without=without)
        if self.limit is not None:
            text = f"list at most COUNT of them (default {self.limit or 'all'})"
            parser.add_argument(
                "--limit", metavar="COUNT", type=argument.positive, default=self.limit or None, help=text
            )
        add_fields(parser, remote.ServerArguments)
        if self.forms:
            remote.add_file(parser, self.forms)
        else:
            add_output(parser, *(["csv"] if self.columns or self.items else []))

    def run(self, arguments: argparse.Namespace) -> None:
        """Send the request, and print what comes back."""
        method, _, path = self.route.partition(" ")
        path = path.format(**{name: getattr(arguments, name) for name in self.parameters})
        query = read_filters(arguments, self.query, without=self.without) if self.query else {}
        if self.forms:
            remote.save(arguments, path, self.forms, **query)
        elif path.endswith("/stream") and self.show:
            remote.follow(arguments, path, self.show)
        elif self.columns:
            client, is_whole = remote.client(arguments), self.limit is None
            items = client.get(path)["items"] if is_whole else client.pages(path, arguments.limit, **query)
            Printer(arguments).rows(items, self.columns, self.item, empty=self.empty)
        else:
            given = read_filters(arguments, self.body, without=()) if self.body else {}
            body = {name: value for name, value in given.items() if value is not None} or None
            client = remote.client(arguments)
            if self.limit is None:
                document = client.ask(method, path, query=query, body=body).data
            else:
                document = client.whole(path, arguments.limit, **query)
            self._print(document, Printer(arguments))

    def _print(self, document: dict[str, Any], printer: Printer) -> None:
        if self.members:
            printer.members(document, self.members)
        else:
            printer.result(document, self.show and partial(self.show, document), self.items)
        if self.note and printer.is_for_people:
            output.note(self.note(document))


def add_commands(actions: Actions, commands: Iterable[RouteCommand]) -> None:
    """Add subcommands that are made from their declarations."""
    for command in commands:
        actions.add(command.name, command, command.help, *command.examples)
