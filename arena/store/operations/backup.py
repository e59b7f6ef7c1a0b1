"""Writes and loads dumps of the database as text, for backups and for moving from SQLite to PostgreSQL.

A dump is NDJSON, compressed if the file name ends in `.zst`. The first line gives the schema revision. Then follows one
line for each row; a row comes before the rows that refer to it. The last line gives the number of rows.
"""

from __future__ import annotations

import base64
import io
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import IO, Any

import zstandard
from sqlalchemy import Engine, LargeBinary, Table, func, insert, select, text
from sqlalchemy.orm import Session
from sqlmodel import SQLModel

from arena.data_folder import make_folder, unfinished
from arena.errors import BadValueError, TakenError
from arena.store.base import schema
from arena.store.base.engine import Sessions, batched, open_engine
from arena.store.base.fields import Utc
from arena.store.operations.sqlite_backup import remove, replace_durably
from referee.bot.input_file import refuse_special

_FORMAT = "arena-dump-1"
_SHORT_LIVED = ("logins", "leases", "idempotent_responses", "login_attempts", "rebuilds", "rebuilt_changes")
"""Tables with short-lived data, which dumps omit."""


def dump(engine: Engine, path: Path) -> int:
    """Write a snapshot of all rows but short-lived ones to a new file; return how many. Raises FileExistsError."""
    count = 0
    with Sessions(engine).reading() as session, _writer(path) as file:
        connection = session.connection()
        file.write(_line({"form": _FORMAT, "schema": schema.revision(engine)}))
        for table in _tables():
            keys = list(table.primary_key.columns)
            # Otherwise the driver reads a whole table into memory.
            rows = connection.execution_options(yield_per=500).execute(select(table).order_by(*keys))
            for row in rows:
                values = {name: _plain(value) for name, value in row._mapping.items()}
                file.write(_line({"table": table.name, "row": values}))
                count += 1
        file.write(_line({"rows": count}))
    return count


def require_dump(path: Path) -> None:
    """Raise BadValueError unless the file starts like a loadable dump, OSError if it cannot be read."""
    with _reader(path) as lines:
        _read_head(path, next(lines, {}))


def load_new(file: Path, path: Path) -> int:
    """Create the SQLite database `file` from a dump; return the number of rows. On failure no file is left.

    Raises the errors of `load`, and OSError.
    """
    is_new_folder = not file.parent.exists()
    make_folder(file.parent, is_passage=True)
    fresh = file.with_name(f"{file.name}.new")
    try:
        remove(fresh)  # left by a killed load
        engine = open_engine(f"sqlite:///{fresh}")
        try:
            schema.upgrade(engine)
            count = load(engine, path)
        finally:
            engine.dispose()
        replace_durably(fresh, file)
    except BaseException:
        remove(fresh)
        if is_new_folder:
            with suppress(OSError):
                file.parent.rmdir()
        raise
    return count


def load(engine: Engine, path: Path) -> int:
    """Fill an empty database from a dump of the same schema in one transaction; return the number of rows.

    Raises BadValueError for an invalid or truncated dump, TakenError if the database is not empty.
    """
    tables = {table.name: table for table in _tables()}
    with Sessions(engine).writing() as session, _reader(path) as lines:
        _read_head(path, next(lines, {}))
        for table in tables.values():
            # The first revision inserts the counter of commits, so that this table is never empty.
            if table.name != "counters" and session.scalar(select(func.count()).select_from(table)):
                raise TakenError(f"the database is not empty: there are rows in {table.name}")
        session.execute(tables["counters"].delete())
        count = _fill(session, tables, path, lines)
        if engine.dialect.name == "postgresql":
            _advance_sequences(session, tables.values())
    return count


def _read_head(path: Path, head: dict[str, Any]) -> None:
    """Raise BadValueError unless `head` is the first line of a loadable dump."""
    if head.get("form") != _FORMAT:
        raise BadValueError(f"{path} is not a dump of an arena", hint="name a file written by `arena db dump`")
    written = str(head.get("schema"))
    if written != schema.head():
        raise BadValueError(
            f"the dump has schema {written}, the program {schema.head()}; load it with the program that wrote it"
        )


def _fill(session: Session, tables: dict[str, Table], path: Path, lines: Iterator[dict[str, Any]]) -> int:
    """Insert all rows and return how many. Raises BadValueError unless the last line gives that number."""
    count = 0
    for name, rows in _groups(lines):
        if name is None:
            if rows == [{"rows": count}]:
                return count
            break
        if name not in tables:
            raise BadValueError(f"{path}: unknown table {name!r}")
        for part in batched(rows):
            session.execute(insert(tables[name]), [_row(tables[name], row) for row in part])
        count += len(rows)
    raise BadValueError(f"{path} is truncated: its last line is missing or wrong", hint="name another file")


def _advance_sequences(session: Session, tables: Iterable[Table]) -> None:
    """Set the PostgreSQL sequences to continue after the loaded ids."""
    for table in tables:
        # The rows came with their ids, of which a sequence knows nothing. The ids of games are texts.
        if "id" in table.columns and table.columns["id"].autoincrement is not False and table.name != "games":
            line = f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), max(id)) FROM {table.name}"  # noqa: S608 - our own names
            session.execute(text(line))


def _tables() -> list[Table]:
    return [table for table in SQLModel.metadata.sorted_tables if table.name not in _SHORT_LIVED]


def _line(data: dict[str, Any]) -> bytes:
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False).encode("utf-8") + b"\n"


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value.isoformat() if isinstance(value, datetime) else value


def _row(table: Table, row: dict[str, Any]) -> dict[str, Any]:
    """Convert a row's JSON values to the types of the table."""
    converted = {}
    for name, value in row.items():
        if name not in table.columns:
            raise BadValueError(f"unknown column {name!r} of table {table.name}")
        kind = table.columns[name].type
        if value is not None and isinstance(kind, LargeBinary):
            value = base64.b64decode(value)
        elif value is not None and isinstance(kind, Utc):
            value = datetime.fromisoformat(value)
        converted[name] = value
    return converted


def _groups(lines: Iterator[dict[str, Any]]) -> Iterator[tuple[str | None, list[dict[str, Any]]]]:
    """Yield consecutive rows of one table in batches; (None, [last line]) at the end."""
    name: str | None = None
    rows: list[dict[str, Any]] = []
    for line in lines:
        if "table" not in line:
            if rows:
                yield name, rows
            yield None, [line]
            return
        if line["table"] != name or len(rows) >= 500:
            if rows:
                yield name, rows
            name, rows = line["table"], []
        rows.append(line["row"])


@contextmanager
def _writer(path: Path) -> Iterator[IO[bytes]]:
    """Open a new file that appears under its name only when it is complete."""
    if path.exists():
        raise FileExistsError(f"{path} already exists")
    with unfinished(path) as fresh:
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            if path.suffix == ".zst":
                with zstandard.ZstdCompressor(level=6).stream_writer(file, closefd=False) as packed:
                    yield packed
            else:
                yield file
        fresh.rename(path)


@contextmanager
def _reader(path: Path) -> Iterator[Iterator[dict[str, Any]]]:
    refuse_special(path)
    with open(path, "rb") as file:
        source: Any = file
        if path.suffix == ".zst":
            source = io.BufferedReader(zstandard.ZstdDecompressor().stream_reader(file))
        yield _read(path, source)


def _read(path: Path, source: Any) -> Iterator[dict[str, Any]]:
    try:
        for line in source:
            data = json.loads(line)
            if not isinstance(data, dict):
                raise ValueError("not an object")
            yield data
    except (ValueError, zstandard.ZstdError) as error:
        # Errors of JSON and of UTF-8 are subclasses of ValueError, and say nothing to users.
        reason = "it was not written by `arena db dump`" if type(error) is not ValueError else str(error)
        raise BadValueError(f"{path} cannot be read: {reason}", hint="name another file") from None
