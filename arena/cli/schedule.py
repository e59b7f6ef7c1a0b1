"""`arena schedule list|show|enable|disable`: recurring tournaments of a server. Refuses to know cron expressions."""

from __future__ import annotations

import argparse

from arena.cli import choice, output, remote
from arena.cli.exit import Exit
from arena.cli.parser import examples

_VERBS = {"enable": "go on from its next time after now", "disable": "create no more tournaments; those created stay"}
_NAMES = ("name", "cron", "zone", "missed", "is_enabled", "next_fire", "created")


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the sub-commands."""
    commands = parser.add_subparsers(dest="action", metavar="list|show|enable|disable", required=True)
    listing = commands.add_parser("list", help="all schedules by name", epilog=examples(("arena schedule list",)))
    listing.set_defaults(act=_list)
    show = commands.add_parser(
        "show", help="one schedule, with its template in JSON", epilog=examples(("arena schedule show 2 --json",))
    )
    show.set_defaults(act=_show)
    verbs = []
    for verb, meaning in _VERBS.items():
        verbs.append(commands.add_parser(verb, help=meaning, epilog=examples((f"arena schedule {verb} 2",))))
        verbs[-1].set_defaults(act=_switch, verb=verb)
    for command in (show, *verbs):
        command.add_argument("id", metavar="ID", type=choice.positive)
        remote.add_server(command)
    remote.add_server(listing, has_ndjson=True)


def run(arguments: argparse.Namespace) -> int:
    """Run the chosen sub-command."""
    return int(arguments.act(arguments))


def _list(arguments: argparse.Namespace) -> int:
    items = remote.client(arguments).get("/schedules")["items"]
    columns = (("id", "id"), ("name", "name"), ("cron", "cron"), ("zone", "zone"), ("on", "is_enabled"))
    empty = 'no schedules; "arena tournament create FILE.toml" with a [schedule] in the file makes one'
    remote.show_items(arguments, items, (*columns, ("next", "next_fire")), empty=empty)
    return Exit.DONE


def _show(arguments: argparse.Namespace) -> int:
    found = remote.client(arguments).get(f"/schedules/{arguments.id}")
    remote.show_document(arguments, found, _NAMES)
    return Exit.DONE


def _switch(arguments: argparse.Namespace) -> int:
    found = remote.client(arguments).ask("POST", f"/schedules/{arguments.id}/{arguments.verb}").data
    if arguments.json:
        output.document(found)
    else:
        words = f"on, next at {found['next_fire']}" if found["is_enabled"] else "off"
        output.note(f"schedule {found['id']} ({found['name']}) is {words}")
    return Exit.DONE
