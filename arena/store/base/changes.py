"""Change detection: a mark of the database that differs after every commit of any process.

SQLite returns this mark at once, without reading the file (`PRAGMA data_version`). PostgreSQL is queried for its
snapshot at most every 0.1 s; commits of this process change the mark at once.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Hashable
from contextlib import suppress
from urllib.parse import quote

from sqlalchemy import event

from arena.store.base.engine import Sessions
from arena.store.base.errors import translated

SNAPSHOT_S = 0.1
"""Maximum age of a PostgreSQL snapshot: for so long a commit of another process may go unnoticed."""


class Changes:
    """The mark of one database. Equal marks mean that nothing was committed between them."""

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
        at, written = self._clock(), self._sessions.written
        with translated(), self._sessions.engine.connect() as connection:
            snapshot = str(connection.exec_driver_sql("SELECT pg_current_snapshot()::text").scalar_one())
        with self._lock:
            self._snapshot = (at, snapshot)
        return written, snapshot

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None

    def _data_version(self) -> Hashable:
        with self._lock, suppress(sqlite3.Error):
            if self._file is None:
                path = quote(str(self._sessions.engine.url.database))
                self._file = sqlite3.connect(
                    f"file:{path}?mode=rw", uri=True, timeout=0, isolation_level=None, check_same_thread=False
                )
            return int(self._file.execute("PRAGMA data_version").fetchone()[0])
        return object()  # unknown at the moment: equal to no other mark
