"""Connections to SQLite in WAL mode or PostgreSQL: reading and writing transactions, and detection of changes."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from itertools import count, islice
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from sqlalchemy import Connection, Engine, Select, Table, create_engine, event, text
from sqlalchemy.engine import ExceptionContext, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError
from sqlalchemy.orm import Session
from sqlmodel import SQLModel

from arena.data_folder import make_file
from arena.errors import BadValueError, DamagedDatabaseError
from arena.store.base.health import Health, translated

T = TypeVar("T")

BATCH = 500
"""Rows per statement, within the parameter limits of both databases."""
BUSY_MS = 5000
"""How long a SQLite writer waits for another writer, and a PostgreSQL session for a free connection."""
SNAPSHOT_S = 0.1
"""Maximum age of a PostgreSQL snapshot: for so long a commit of another process may go unnoticed."""

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
_WRITING, _DURABLE = "arena_writing", "arena_durable"
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
        # Errors are logged: values in them may be hashes of passwords, mail addresses or texts of users.
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
            # SQLite checks foreign keys only when asked to.
            for pragma in (f"busy_timeout={BUSY_MS}", "foreign_keys=ON"):
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
        options = connection.get_execution_options()
        if not options.get(_WRITING, False):
            connection.exec_driver_sql("BEGIN")
            return
        # In WAL mode, NORMAL may lose the latest commits at a power failure, but never damages the file. FULL waits
        # for the disk at every commit.
        connection.exec_driver_sql(f"PRAGMA synchronous={'FULL' if options.get(_DURABLE, False) else 'NORMAL'}")
        connection.exec_driver_sql("BEGIN IMMEDIATE")


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
        self.durable_writer = engine.execution_options(**{_WRITING: True, _DURABLE: True})
        # SQLite's writers poll for their turn, and with many threads some never get it: here they queue for it.
        self._turn = threading.Lock() if engine.dialect.name == "sqlite" else None
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
    def writing(self, *, is_durable: bool = False) -> Iterator[Session]:
        """Open a session that commits at the end of the block, or rolls back if the block raises.

        If `is_durable`, the commit survives a power failure; SQLite may lose others of the last seconds.
        Raises StoreUnavailableError, and DamagedDatabaseError if the database is known to be damaged.
        """
        self.health.require_sound()
        writer = self.durable_writer if is_durable else self.writer
        with self._in_turn(), self._translated(), Session(writer, expire_on_commit=False) as session:
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
    def _in_turn(self) -> Iterator[None]:
        """Wait for the other writers of this process, `BUSY_MS` at most: then SQLite says that it is locked."""
        has_turn = self._turn is not None and self._turn.acquire(timeout=BUSY_MS / 1000)
        try:
            yield
        finally:
            if has_turn and self._turn:
                self._turn.release()

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


class Repository:
    """A part of the store: it reads and writes some of the tables, in sessions of their engine."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions


class Changes:
    """The mark of one database, which differs after every commit of any process.

    SQLite returns it at once, without reading the file (`PRAGMA data_version`). PostgreSQL is queried for its snapshot
    at most every 0.1 s; commits of this process change the mark at once.
    """

    def __init__(self, sessions: Sessions, clock: Callable[[], float] = time.monotonic) -> None:
        self._sessions = sessions
        self._clock = clock
        self._lock = threading.Lock()
        self._file: sqlite3.Connection | None = None
        self._snapshot: tuple[float, str] | None = None
        event.listen(sessions.engine, "engine_disposed", lambda _: self.close())

    def mark(self) -> Hashable | None:
        """Return the current mark without blocking; None if it must be queried by `look`, which blocks."""
        if self._sessions.engine.dialect.name == "sqlite":
            return self._data_version()
        with self._lock:
            if self._snapshot is None or self._clock() - self._snapshot[0] > SNAPSHOT_S:
                return None
            return self._sessions.written, self._snapshot[1]

    def look(self) -> Hashable:
        """Query the database for the current mark. Raises StoreUnavailableError."""
        if self._sessions.engine.dialect.name == "sqlite":
            return self._data_version()
        # Before the query: a commit meanwhile then makes the mark too old, never too new.
        at, written = self._clock(), self._sessions.written
        with translated(), self._sessions.engine.connect() as connection:
            snapshot = str(connection.exec_driver_sql("SELECT pg_current_snapshot()::text").scalar_one())
        with self._lock:
            self._snapshot = (at, snapshot)
        return written, snapshot

    def close(self) -> None:
        """Close the connection that watches the file; the next mark opens it again."""
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None

    def _data_version(self) -> Hashable:
        with self._lock, suppress(sqlite3.Error):
            if self._file is None:
                path = quote(str(self._sessions.engine.url.database))
                # A connection of its own: data_version tells only of the commits of other connections
                # (sqlite.org/pragma.html).
                self._file = sqlite3.connect(
                    f"file:{path}?mode=rw", uri=True, timeout=0, isolation_level=None, check_same_thread=False
                )
            return int(self._file.execute("PRAGMA data_version").fetchone()[0])
        return object()  # unknown at the moment: equal to no other mark
