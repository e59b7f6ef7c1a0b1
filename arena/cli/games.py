"""`arena games verify`: recorded games played again by the rules, and compared with what their records claim."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING

from arena.cli import output
from arena.cli.database import add_database, open_store, settings_of
from arena.cli.exit import CommandError, Exit

if TYPE_CHECKING:
    from arena.store import Store


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    verify = actions.add_parser("verify", help="play recorded games again by the rules")
    verify.add_argument("ids", nargs="*", metavar="ID", help="the games; without any, the latest 100")
    verify.add_argument("--all", action="store_true", help="every recorded game")
    verify.add_argument("--tournament", type=int, metavar="N", help="every game of a tournament")
    verify.add_argument("--json", action="store_true", help="one JSON document on stdout")
    add_database(verify)


def run(arguments: argparse.Namespace) -> int:
    """Verify; exit code 1 when a record is wrong."""
    if sum([bool(arguments.ids), arguments.all, arguments.tournament is not None]) > 1:
        raise CommandError("name games, or a tournament, or all of them")
    count = 0
    failures: list[dict[str, str]] = []
    with closing(open_store(settings_of(arguments))) as store:
        for name, line in _lines(store, arguments):
            problem = _problem(name, line)
            count += 1
            if problem:
                failures.append({"game": name, "problem": problem})
                output.error(f"game {name}: {problem}", is_fault=False)
            output.progress(f"{count} games, {len(failures)} wrong")
    output.progress(f"{count} games, {len(failures)} wrong", is_last=True)
    if arguments.json:
        output.document({"checked": count, "failed": len(failures), "failures": failures})
    else:
        output.text(f"{count} games verified, {len(failures)} wrong")
    return Exit.FAILED if failures else Exit.DONE


def _lines(store: Store, arguments: argparse.Namespace) -> Iterator[tuple[str, bytes]]:
    """(game, record as JSON) of what was asked for."""
    from arena.store import NotFoundError

    if arguments.ids:
        for name in arguments.ids:
            try:
                yield name, store.games.record(name).line().encode()
            except NotFoundError as error:
                raise CommandError(str(error), Exit.NOT_FOUND) from None
        return
    after = 0 if arguments.all or arguments.tournament is not None else max(0, store.games.last_commit() - 100)
    for number, line in store.games.records(tournament_id=arguments.tournament, after=after):
        try:
            name = str(json.loads(line)["id"])
        except (ValueError, KeyError, TypeError):
            name = f"with commit number {number}"
        yield name, line


def _problem(name: str, line: bytes) -> str:
    """What is wrong with a record; empty when it is right."""
    from referee.record import RecordError, read_record, verify

    try:
        record = read_record(line)
        verify(record)
    except (RecordError, ValueError) as error:
        return str(error)
    return "" if record.id == name else f"calls itself {record.id}"
