"""Database connections: SQLite in WAL mode or PostgreSQL, with reading and writing transactions."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from itertools import count, islice
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, Select, Table, create_engine, event, text
from sqlalchemy.engine import ExceptionContext, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError
from sqlalchemy.orm import Session
from sqlmodel import SQLModel

from arena.data_folder import make_file
from arena.errors import BadValueError, DamagedDatabaseError
from arena.store.base.errors import translated
from arena.store.base.health import Health

T = TypeVar("T")

BATCH = 500
"""Rows per statement, within the parameter limits of both databases."""
BUSY_MS = 5000
"""How long a SQLite writer waits for another writer, and a PostgreSQL session for a free connection."""

_KEEP_ALIVE = {"keepalives_idle": 4, "keepalives_interval": 2, "keepalives_count": 3, "tcp_user_timeout": 10_000}
"""TCP keep-alive settings: a lost server is noticed within ten seconds, not hours."""
_SERVER_SETTINGS = {
    "lock_timeout": 2 * BUSY_MS,
    "idle_in_transaction_session_timeout": 60_000,
    # A client that was cut off must not keep its locks: the server notices the loss within ten seconds.
    # If the client's machine closes the connection, the server notices within two seconds, even during a statement.
    "tcp_keepalives_idle": 4,
    "tcp_keepalives_interval": 2,
    "tcp_keepalives_count": 3,
    "tcp_user_timeout": 10_000,
    "client_connection_check_interval": 2000,
}
"""Settings of every PostgreSQL session; milliseconds, keep-alive settings in seconds."""
_WRITING = "arena_writing"
_NO_CHANGE = text("UPDATE counters SET value = value WHERE name = ''")
"""A statement that needs the right to write, but no lock on a row."""


def open_engine(url: str, *, pool_size: int = 10) -> Engine:
    """Create an engine for `sqlite:///FILE` or `postgresql+psycopg://…`. Raises BadValueError."""
    try:
        target = make_url(url)
    except ArgumentError:
        raise BadValueError(f"invalid database URL {url!r}; write sqlite:///FILE or postgresql+psycopg://…") from None
    if target.drivername == "postgresql":
        target = target.set(drivername="postgresql+psycopg")
    options: dict[str, Any] = {
        "hide_parameters": True,
        "pool_timeout": BUSY_MS / 1000,
        "pool_size": pool_size,
        "max_overflow": pool_size,
    }
    if target.get_backend_name() == "postgresql":
        given = " ".join(f"-c {name}={value}" for name, value in _SERVER_SETTINGS.items())
        options |= {"pool_pre_ping": True, "connect_args": {"connect_timeout": 5, "options": given, **_KEEP_ALIVE}}
    elif target.get_backend_name() != "sqlite":
        raise BadValueError(f"unsupported database {target.drivername!r}; use sqlite or postgresql+psycopg")
    elif target.database in (None, "", ":memory:"):
        raise BadValueError("the SQLite database must be a file; write sqlite:///FILE")
    else:
        with suppress(OSError):  # connecting will raise the error
            make_file(Path(target.database))
    try:
        engine = create_engine(target, **options)
    except ModuleNotFoundError as error:
        raise BadValueError(
            f"{target.drivername} needs {error.name}, which is not installed; "
            "install the arena with its extra: pip install 'bot-arena[postgres]'"
        ) from None
    except NoSuchModuleError as error:
        raise BadValueError(f"{target.drivername} cannot be used: {error}; write postgresql+psycopg") from None
    if engine.dialect.name == "sqlite":
        _configure_sqlite(engine)
    return engine


def _configure_sqlite(engine: Engine) -> None:
    @event.listens_for(engine, "connect")
    def connect(connection: sqlite3.Connection, _: Any) -> None:
        # The driver must not begin transactions itself: in such transactions, a reader may become a writer.
        # A reader that becomes a writer fails at once, despite the busy timeout, if another process has written.
        connection.isolation_level = None
        try:
            for pragma in (f"busy_timeout={BUSY_MS}", "synchronous=NORMAL", "foreign_keys=ON"):
                connection.execute(f"PRAGMA {pragma}")
            _write_ahead(connection)
        except sqlite3.Error:
            connection.close()
            raise

    @event.listens_for(engine, "handle_error")
    def handle_error(context: ExceptionContext) -> None:
        # SQLite opens an unwritable file read-only; then all connections of this process to that file are read-only.
        # Close all these connections, so that the file can be written again when the disk recovers.
        if getattr(context.original_exception, "sqlite_errorname", "").startswith("SQLITE_READONLY"):
            context.is_disconnect = True
            if context.execution_context is not None:
                context.execution_context.cursor.close()  # the error refers to it, and it keeps the file open
            close_all(engine)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        is_writing = connection.get_execution_options().get(_WRITING, False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if is_writing else "BEGIN")


def close_all(engine: Engine) -> None:
    """Close all connections of an engine; one in use is closed when its transaction ends."""
    event.listen(engine.pool, "checkin", lambda _, entry: entry.close())
    engine.dispose()


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Switch a new file to WAL mode. Retries, as SQLite does not apply the busy timeout to this switch."""
    deadline = time.monotonic() + BUSY_MS / 1000
    while connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def batched(rows: Iterable[T]) -> Iterator[list[T]]:
    """Yield rows in batches that fit into one statement, of SQLite and of PostgreSQL."""
    source = iter(rows)
    while part := list(islice(source, BATCH)):
        yield part


def table_of(model: type[SQLModel]) -> Table:
    """Return the table of a model, for statements that bypass the ORM."""
    return SQLModel.metadata.tables[str(model.__tablename__)]


class Sessions:
    """Sessions of one engine: `reading()` sees one snapshot of the database, `writing()` is one transaction."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.health = Health(engine)
        # One snapshot per reading session is SQLite's default; PostgreSQL needs REPEATABLE READ for it.
        self.reader = engine
        if engine.dialect.name == "postgresql":
            self.reader = engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        self.writer = engine.execution_options(**{_WRITING: True})
        self._fence: ContextVar[Callable[[Session], None] | None] = ContextVar("fence", default=None)
        self._commits = count(1)
        self.written = 0
        """A number that differs after every commit of this process."""

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """Open a read-only session. Raises StoreUnavailableError."""
        with self._translated(), Session(self.reader, expire_on_commit=False, autoflush=False) as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """Open a session that commits at the end of the block, or rolls back if the block raises.

        Raises StoreUnavailableError, and DamagedDatabaseError if the database is known to be damaged.
        """
        self.health.require_sound()
        with self._translated(), Session(self.writer, expire_on_commit=False) as session:
            if fence := self._fence.get():
                fence(session)
            yield session
            session.commit()
            self.written = next(self._commits)

    def require_writable(self) -> None:
        """Try to write. Raises StorageError for a read-only database, StoreUnavailableError for a locked one."""
        with self.writing() as session:
            session.execute(_NO_CHANGE)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Translate the driver's errors to those of the store, and record damage of the database."""
        try:
            with translated():
                yield
        except DamagedDatabaseError as error:
            self.health.note(error.problem)
            raise

    @contextmanager
    def fenced(self, require: Callable[[Session], None]) -> Iterator[None]:
        """Call `require`, which may raise, at the start of every writing transaction of this thread in the block."""
        token = self._fence.set(require)
        try:
            yield
        finally:
            self._fence.reset(token)


def fetch(session: Session, query: Select[*tuple[Any, ...]]) -> Sequence[Any]:
    """Return all rows of a query of columns, as tuples."""
    return session.execute(query).all()
