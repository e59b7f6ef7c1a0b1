"""`arena db`: upgrade, check, dump, load, back up and restore the database."""

from __future__ import annotations

import argparse
import os
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from arena.cli.source.database import add_database, file_of, open_any, open_store, refuse_empty, settings_of
from arena.cli.terminal import output
from arena.cli.terminal.actions import Actions
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.printer import Printer, add_output

if TYPE_CHECKING:
    from arena.config import Settings


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    actions = Actions(parser)
    upgrade = actions.add("upgrade", _upgrade, "create the tables, or upgrade them to the schema of this program")
    check = actions.add(
        "check",
        _check,
        "check for damage and for a wrong schema; exit code 1 if either is found, 3 if the database is empty",
    )
    dump = actions.add("dump", _dump, "write a consistent dump of everything to a file, while the arena runs")
    dump.add_argument("file", type=Path, metavar="FILE", nargs="?", help="new file (default arena-TIME.ndjson.zst)")
    load = actions.add("load", _load, "fill an empty database from a dump")
    load.add_argument("file", type=Path, metavar="FILE", help="dump written by `arena db dump`")
    backup = actions.add("backup", _backup, "back up the SQLite database now, while the arena runs")
    restore = actions.add("restore", _restore, "restore a backup of the SQLite database, while the arena is stopped")
    restore.add_argument("file", type=Path, metavar="FILE", nargs="?", help="backup to restore (default: the newest)")
    for each in (upgrade, check, dump, load, backup, restore):
        add_output(each)
        add_database(each)


def _upgrade(arguments: argparse.Namespace) -> int:
    with closing(open_any(settings_of(arguments))) as store:
        before, after = store.upgrade()
    change = " (nothing to do)" if before == after else f", was {before or 'empty'}"
    Printer(arguments).result({"before": before, "after": after}, lambda: output.text(f"schema {after}{change}"))
    return Exit.DONE


def _check(arguments: argparse.Namespace) -> int:
    from arena.errors import DamagedDatabaseError, EmptyDatabaseError, SchemaError
    from arena.store.base import schema

    settings = settings_of(arguments)
    try:
        with closing(open_store(settings)) as store:
            damage = store.health.check()
            is_empty = not damage and not store.users.page(limit=1).items
            differences = schema.differences(store.engine)
    except EmptyDatabaseError:
        raise
    except SchemaError as error:  # just what was to be found out
        raise CommandError(str(error), Exit.FAILED) from None
    except DamagedDatabaseError as error:
        raise CommandError(f"{error}; {error.hint}", Exit.FAILED) from None
    if is_empty and not differences:
        refuse_empty(settings, "no users and no games")

    def show() -> None:
        if damage:
            found = DamagedDatabaseError(damage)
            output.text(f"{found}; {found.hint}")
        output.text(*differences, f"schema {schema.head()}: {len(differences)} differences")

    Printer(arguments).result({"revision": schema.head(), "differences": differences, "damage": damage}, show)
    return Exit.FAILED if differences or damage else Exit.DONE


def _dump(arguments: argparse.Namespace) -> int:
    from arena.store.operations.backup import dump

    file = arguments.file or Path(f"arena-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}.ndjson.zst")
    try:
        with closing(open_store(settings_of(arguments))) as store:
            rows = dump(store.engine, file)
    except FileExistsError as error:
        raise CommandError(f"{error}; name another file") from None
    _tell(arguments, file, rows)
    return Exit.DONE


def _load(arguments: argparse.Namespace) -> int:
    """Fill an empty database from a dump. Nothing is created if the dump is incomplete."""
    from arena.store.operations.backup import load, load_new, require_dump

    settings = settings_of(arguments)
    require_dump(arguments.file)
    file = file_of(settings)
    if file is not None and not file.exists():
        rows = load_new(file, arguments.file)
    else:
        with closing(open_any(settings)) as store:
            store.upgrade()
            rows = load(store.engine, arguments.file)
    _tell(arguments, arguments.file, rows)
    return Exit.DONE


def _backup(arguments: argparse.Namespace) -> int:
    from arena.clock import now
    from arena.store.operations.sqlite_backup import SqliteBackups

    settings = settings_of(arguments)
    with closing(open_store(settings)):
        file = _file_of(settings)
        path = SqliteBackups(settings.backups_folder, settings.backup_days).make(file, now())
    size = path.stat().st_size
    Printer(arguments).result({"file": str(path), "bytes": size}, lambda: output.text(f"{path}: {size} bytes"))
    output.note("Bots are not in it: back up the store of bundles as well.")
    return Exit.DONE


def _restore(arguments: argparse.Namespace) -> int:
    """Restore a backup. Newer results that can be read from the replaced database are recorded at the next start."""
    from arena.clock import now
    from arena.cluster.spool import Spool
    from arena.store.operations.sqlite_backup import SqliteBackups, restore, salvage
    from referee.game.record import read_record
    from referee.rules.core import Kind

    settings = settings_of(arguments)
    file = _file_of(settings)
    if file.exists() and file.stat().st_uid != os.geteuid():
        raise CommandError(f"{file} belongs to another user: run this as the user of the arena (runuser -u NAME -- …)")
    backup = arguments.file or SqliteBackups(settings.backups_folder, settings.backup_days).newest()
    aside = restore(file, backup, now())
    spool, count = Spool(settings.spool_folder), 0
    for line in salvage(file, aside) if aside else ():
        record = read_record(line)
        if record.kind is not Kind.VOID:
            spool.keep(record)
            count += 1
    spool.sync()
    lines = (
        f"restored from {backup}" + (f"; the previous database is now {aside}" if aside else ""),
        f"{len(spool)} results will be recorded at the next start, {count} of them read from the previous database",
    )
    Printer(arguments).result(
        {"file": str(backup), "aside": aside and str(aside), "salvaged": count, "waiting": len(spool)},
        lambda: output.text(*lines),
    )
    return Exit.DONE


def _file_of(settings: Settings) -> Path:
    """Return the file of the database. Raises CommandError for a database server."""
    file = file_of(settings)
    if file is None:
        raise CommandError(
            "the database is on a database server: use `arena db dump` and `load`, or pg_dump and pg_restore"
        )
    return file


def _tell(arguments: argparse.Namespace, file: Path, rows: int) -> None:
    size = file.stat().st_size
    Printer(arguments).result(
        {"file": str(file), "rows": rows, "bytes": size}, lambda: output.text(f"{file}: {rows} rows, {size} bytes")
    )
    output.note("Bots are not in it: back up the store of bundles as well.")
