"""`arena schedule list|show|enable|disable`: manage the recurring tournaments of a server."""

from __future__ import annotations

import argparse

from arena.cli.source import remote
from arena.cli.terminal import argument, output
from arena.cli.terminal.actions import Actions
from arena.cli.terminal.exit import Exit
from arena.cli.terminal.printer import Printer, add_output

_VERBS = {
    "enable": "enable a schedule from its next time on",
    "disable": "disable a schedule; tournaments it has created stay",
}
_NAMES = ("name", "cron", "timezone", "catch_up", "is_enabled", "next_fire", "created_at")


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommands."""
    actions = Actions(parser)
    listing = actions.add("list", _list, "list all schedules by name", "arena schedule list")
    show = actions.add("show", _show, "show a schedule, with its template in JSON", "arena schedule show 2 --json")
    verbs = [actions.add(verb, _switch, meaning, f"arena schedule {verb} 2") for verb, meaning in _VERBS.items()]
    for command in (show, *verbs):
        command.add_argument("id", metavar="ID", type=argument.positive, help="number of the schedule")
        remote.add_server(command)
        add_output(command)
    remote.add_server(listing)
    add_output(listing, "csv")


def _list(arguments: argparse.Namespace) -> int:
    items = remote.client(arguments).get("/schedules")["items"]
    columns = (("id", "id"), ("name", "name"), ("cron", "cron"), ("time zone", "timezone"), ("on", "is_enabled"))
    empty = 'no schedules; "arena tournament create FILE.toml" with a [schedule] in the file makes one'
    Printer(arguments).rows(items, (*columns, ("next", "next_fire")), empty=empty, drop=("time zone",))
    return Exit.DONE


def _show(arguments: argparse.Namespace) -> int:
    found = remote.client(arguments).get(f"/schedules/{arguments.id}")
    Printer(arguments).members(found, _NAMES)
    return Exit.DONE


def _switch(arguments: argparse.Namespace) -> int:
    found = remote.client(arguments).ask("POST", f"/schedules/{arguments.id}/{arguments.action}").data
    state = f"enabled, next at {found['next_fire']}" if found["is_enabled"] else "disabled"
    Printer(arguments).result(found, lambda: output.note(f"schedule {found['id']} ({found['name']}) is {state}"))
    return Exit.DONE
