"""`arena dump update|list`: write and list the monthly files in which an arena publishes all results."""

from __future__ import annotations

import argparse
from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING

from arena.cli.source.database import add_database, open_store, settings_of
from arena.cli.terminal import output
from arena.cli.terminal.actions import Actions
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.printer import Printer, add_output

if TYPE_CHECKING:
    from arena.collections.dumps import Dumps


def add(parser: argparse.ArgumentParser) -> None:
    actions = Actions(parser)
    update = actions.add("update", _update, "add new results to the dumps", "arena dump update")
    update.add_argument("--rebuild", action="store_true", help="write all files again")
    listing = actions.add("list", _list, "list the dumps", "arena dump list --check")
    listing.add_argument(
        "--check", action="store_true", help="compare the files with their checksums; exit code 1 if one differs"
    )
    for command in (update, listing):
        add_database(command)
        add_output(command)


def _update(arguments: argparse.Namespace) -> int:
    """Write new results into the files. Exit code 1 if a file cannot be written."""
    from arena.collections.dumps import Dumps

    settings = settings_of(arguments)
    dumps = Dumps.of(settings)
    try:
        with closing(open_store(settings)) as store:
            count = dumps.update(store, rebuild=arguments.rebuild)
        _print(arguments, dumps, count, [])
    except OSError as error:
        raise CommandError(f"{dumps.folder}: {error.strerror or error}", Exit.FAILED) from None
    output.note(f"{dumps.folder}: {count} games added")
    return Exit.DONE


def _list(arguments: argparse.Namespace) -> int:
    """List the files. Exit code 1 if one does not have its checksum."""
    from arena.collections.dumps import Dumps

    dumps = Dumps.of(settings_of(arguments))
    try:
        problems = dumps.check() if arguments.check else []
        _print(arguments, dumps, 0, problems)
    except OSError as error:
        raise CommandError(f"{dumps.folder}: {error.strerror or error}", Exit.FAILED) from None
    for problem in problems:
        output.error(f"{problem}; write it again with: arena dump update --rebuild", is_fault=False)
    return Exit.FAILED if problems else Exit.DONE


def _print(arguments: argparse.Namespace, dumps: Dumps, count: int, problems: list[str]) -> None:
    index = dumps.index()
    files = list(index.files.values())
    rows = [(one.file, str(one.games), str(one.bytes), one.sha256[:16]) for one in files]
    columns = ("file", "games", "bytes", "sha256")
    Printer(arguments).result(
        {
            "folder": str(dumps.folder),
            "added": count,
            "through": index.through,
            "problems": problems,
            "files": [asdict(one) for one in files],
        },
        lambda: output.table(columns, rows, numbers=("games", "bytes"), drop=("sha256",)),
        "files",
    )
