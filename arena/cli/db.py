"""`arena db`: bring the schema up to date, compare it, back everything up, and fill an empty database from a backup."""

from __future__ import annotations

import argparse
import time
from contextlib import closing
from pathlib import Path

from arena.cli import output
from arena.cli.actions import Actions
from arena.cli.database import add_database, open_any, open_store, settings_of
from arena.cli.exit import CommandError, Exit


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    actions = Actions(parser)
    upgrade = actions.add("upgrade", _upgrade, "make the tables, or bring them to the schema of this program")
    check = actions.add("check", _check, "compare the database with the schema; exit code 1 when it differs")
    dump = actions.add("dump", _dump, "write everything into a file, as it is at one moment, while the arena runs")
    dump.add_argument("file", type=Path, metavar="FILE", nargs="?", help="new file (default arena-TIME.ndjson.zst)")
    load = actions.add("load", _load, "fill an empty database from such a file")
    load.add_argument("file", type=Path, metavar="FILE", help="what `arena db dump` wrote")
    for each in (upgrade, check, dump, load):
        each.add_argument("--json", action="store_true", help="one JSON document on stdout")
        add_database(each)


def _upgrade(arguments: argparse.Namespace) -> int:
    with closing(open_any(settings_of(arguments))) as store:
        before, after = store.upgrade()
    if arguments.json:
        output.document({"before": before, "after": after})
    else:
        output.text(f"schema {after}" + (" (nothing to do)" if before == after else f", was {before or 'empty'}"))
    return Exit.DONE


def _check(arguments: argparse.Namespace) -> int:
    from arena.store import SchemaError, schema

    try:
        with closing(open_store(settings_of(arguments))) as store:
            differences = schema.differences(store.engine)
    except SchemaError as error:  # just what was to be found out
        raise CommandError(str(error), Exit.FAILED) from None
    if arguments.json:
        output.document({"schema": schema.head(), "differences": differences})
    else:
        output.text(*differences, f"schema {schema.head()}: {len(differences)} differences")
    return Exit.FAILED if differences else Exit.DONE


def _dump(arguments: argparse.Namespace) -> int:
    from arena.store.backup import dump

    file = arguments.file or Path(f"arena-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}.ndjson.zst")
    try:
        with closing(open_store(settings_of(arguments))) as store:
            rows = dump(store.engine, file)
    except FileExistsError as error:
        raise CommandError(str(error)) from None
    _tell(arguments, file, rows)
    return Exit.DONE


def _load(arguments: argparse.Namespace) -> int:
    from arena.store.backup import load

    with closing(open_any(settings_of(arguments))) as store:
        store.upgrade()
        rows = load(store.engine, arguments.file)
    _tell(arguments, arguments.file, rows)
    return Exit.DONE


def _tell(arguments: argparse.Namespace, file: Path, rows: int) -> None:
    if arguments.json:
        output.document({"file": str(file), "rows": rows, "bytes": file.stat().st_size})
    else:
        output.text(f"{file}: {rows} rows, {file.stat().st_size} bytes")
    output.note("Bots are not in it: back up the store of bundles as well.")
