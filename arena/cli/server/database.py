"""`arena db`: upgrade, check, dump, load, back up and restore the database of an arena."""

from __future__ import annotations

import argparse
import os
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from arena.cli.source.database import DatabaseArguments, file_of, open_new, open_store, options_of, refuse_empty
from arena.cli.terminal import output
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.fields import Actions, positional
from arena.cli.terminal.printer import Output, Printer
from arena.documents.table import size_in_words

if TYPE_CHECKING:
    from arena.config import Settings

_WITHOUT_BOTS = "Bots are not in it: back up the store of bundles as well."


@dataclass(frozen=True, kw_only=True)
class DbArguments(DatabaseArguments, Output):
    """Arguments of all subcommands of `arena db`."""


@dataclass(frozen=True, kw_only=True)
class DumpArguments(DbArguments):
    file: Path | None = positional("new file (default arena-TIME.ndjson.zst)", "FILE", default=None)


@dataclass(frozen=True, kw_only=True)
class LoadArguments(DbArguments):
    file: Path = positional("dump written by `arena db dump`", "FILE")


@dataclass(frozen=True, kw_only=True)
class RestoreArguments(DbArguments):
    file: Path | None = positional("backup to restore (default: the newest)", "FILE", default=None)


def add_db(parser: argparse.ArgumentParser) -> None:
    add = Actions(parser).add
    add("upgrade", _upgrade, "upgrade the tables to the schema of this program; in an empty database, create them")
    add(
        "check",
        _check,
        "check for damage and for a wrong schema; exit code 1 if either is found, 3 if the database is empty",
    )
    add("dump", _dump, "write a consistent dump of everything to a file, while the arena runs")
    add("load", _load, "fill an empty database from a dump")
    add("backup", _backup, "back up the SQLite database now, while the arena runs")
    add("restore", _restore, "restore a backup of the SQLite database, while the arena is stopped")


def _upgrade(arguments: DbArguments) -> None:
    from arena.store.base import schema

    settings = arguments.read()
    with closing(open_store(settings, any_schema=True)) as store:
        features = schema.waiting(store.engine)
        before, after = store.upgrade()
    change = f", was {before or 'empty'}" if before != after else "" if features else " (nothing to do)"
    made = f"; tables of {', '.join(features)}" if features else ""
    Printer(arguments).result(
        {"before": before, "after": after, "features": features},
        lambda: output.text(f"schema {after}{change}{made}"),
    )
    if before == "1001":  # 1.0 computed them by the factor graph, which gives other last digits
        output.note(f"Now run `arena ratings rebuild{options_of(settings)}`: the last digits of ratings change.")


def _check(arguments: DbArguments) -> int:
    from arena.errors import DamagedDatabaseError, EmptyDatabaseError, SchemaError
    from arena.store.base import schema

    settings = arguments.read()
    try:
        with closing(open_store(settings)) as store:
            damage = store.health.check()
            is_empty = not damage and not store.users.page(limit=1).items
            differences = schema.differences(store.engine)
    except EmptyDatabaseError:  # has an exit code of its own
        raise
    except SchemaError as error:  # just what was to be found out
        raise CommandError(str(error), Exit.FAILED) from None
    except DamagedDatabaseError as error:
        raise CommandError(f"{error}; {error.hint}", Exit.FAILED) from None
    if is_empty and not differences:
        refuse_empty(settings, "no users and no games")

    def show() -> None:
        if damage:
            damaged = DamagedDatabaseError(damage)
            output.text(f"{damaged}; {damaged.hint}")
        output.text(*differences, f"schema {schema.head()}: {len(differences)} differences")

    Printer(arguments).result({"revision": schema.head(), "differences": differences, "damage": damage}, show)
    return Exit.FAILED if differences or damage else Exit.DONE


def _dump(arguments: DumpArguments) -> None:
    from arena.store.operations.backup import dump

    file = arguments.file or Path(f"arena-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}.ndjson.zst")
    try:
        with closing(open_store(arguments.read())) as store:
            rows = dump(store.engine, file)
    except FileExistsError as error:
        raise CommandError(f"{error}; name another file") from None
    _show_dump(arguments, file, rows)
    output.note(_WITHOUT_BOTS)


def _load(arguments: LoadArguments) -> None:
    """Fill an empty database from a dump. Nothing is created if the dump is incomplete."""
    from arena.store.operations.backup import load, load_new, require_dump

    settings = arguments.read()
    require_dump(arguments.file)
    file = file_of(settings)
    if file is not None and not file.exists():
        rows = load_new(file, arguments.file)
    else:
        with closing(open_new(settings)) as store:
            store.upgrade()
            rows = load(store.engine, arguments.file)
    _show_dump(arguments, arguments.file, rows)
    output.note("Bots are not in it: restore the store of bundles as well.")


def _backup(arguments: DbArguments) -> None:
    from arena.clock import now
    from arena.store.operations.sqlite_backup import SqliteBackups

    settings = arguments.read()
    with closing(open_store(settings)):  # which refuses a database that is missing or of another version
        file = _sqlite_file(settings)
        backups = SqliteBackups(settings.backups_folder, settings.backup_days)
        path = backups.make(file, now(), lambda share: output.progress(f"copying the database: {share:.0%}"))
    size = path.stat().st_size
    Printer(arguments).result({"file": str(path), "bytes": size}, lambda: output.text(f"{path}: {size_in_words(size)}"))
    output.note(_WITHOUT_BOTS)


def _restore(arguments: RestoreArguments) -> None:
    """Restore a backup. Newer results that can be read from the replaced database are recorded at the next start."""
    from arena.clock import now
    from arena.cluster.spool import Spool
    from arena.store.operations.sqlite_backup import SqliteBackups, restore, salvage
    from referee.game.record import read_record
    from referee.rules.core import Kind

    settings = arguments.read()
    file = _sqlite_file(settings)
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


def _sqlite_file(settings: Settings) -> Path:
    """Return the file of the database. Raises CommandError for a database server."""
    file = file_of(settings)
    if file is None:
        raise CommandError(
            "the database is on a database server: use `arena db dump` and `load`, or pg_dump and pg_restore"
        )
    return file


def _show_dump(arguments: Output, file: Path, rows: int) -> None:
    size = file.stat().st_size
    Printer(arguments).result(
        {"file": str(file), "rows": rows, "bytes": size},
        lambda: output.text(f"{file}: {rows} rows, {size_in_words(size)}"),
    )
