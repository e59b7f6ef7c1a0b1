"""`arena test begin|list|stop`: test two versions of your bot against each other."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

from arena.cli.client.route_command import RouteCommand, add_commands
from arena.cli.source import remote
from arena.cli.source.remote import ServerArguments
from arena.cli.terminal import output, text_input
from arena.cli.terminal.fields import Actions
from arena.cli.terminal.printer import Output, Printer, read_document
from arena.documents.query import query_fields
from arena.features.versiontests.documents import TESTS, VersionTestItem, VersionTestRequest


@dataclass(frozen=True, kw_only=True)
class BeginArguments(VersionTestRequest, ServerArguments, Output):
    """The test to begin; `book` is the file of its opening book."""


def add(parser: argparse.ArgumentParser) -> None:
    actions = Actions(parser)
    actions.add(
        "begin",
        _begin,
        "test whether version NEW is stronger than OLD",
        'arena test begin "mybot v3" "mybot v2" --family loa --tc 2+0.05 --elo0 0 --elo1 10',
        'arena test begin "mybot v3" "mybot v2" --family loa --book openings.txt --games 1000',
    )
    add_commands(actions, _COMMANDS)


def _begin(arguments: BeginArguments) -> None:
    body: dict[str, Any] = {
        field.name: value
        for field in query_fields(VersionTestRequest)
        if (value := getattr(arguments, field.name)) is not None
    }
    if arguments.book:
        body["book"] = text_input.read_text(arguments.book)
    test = remote.client(arguments).ask("POST", "/tests", body=body).data
    Printer(arguments).result(test, lambda: _show(test))
    output.note(f"`arena tournament watch {test['id']}` follows it, `arena test stop {test['id']}` ends it")


def _show(test: dict[str, Any]) -> None:
    output.table(TESTS, [read_document(VersionTestItem, test)])


_COMMANDS = (
    RouteCommand(
        "list",
        "GET /bots/{bot}/tests",
        "list the tests of a bot's versions, the latest first",
        ("arena test list mybot",),
        item=VersionTestItem,
        columns=TESTS,
        empty="no tests yet; `arena test begin --help` shows how",
    ),
    RouteCommand(
        "stop",
        "POST /tests/{tournament}/stop",
        "stop a test: games that have not begun are not played",
        ("arena test stop 17",),
        show=_show,
    ),
)
