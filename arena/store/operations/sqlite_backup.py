"""Backups of the SQLite database: copies of the file, made while it is in use, and their restoration.

A backup is itself a SQLite database, named after the time of the copy. Database servers have their own backup tools.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from arena.data_folder import make_file, make_folder, unfinished
from arena.errors import BadValueError, ConflictError, NotFoundError, StoreUnavailableError
from arena.store.base.health import is_damage, mark_of, problem_of
from arena.store.games.commit import unpack_line
from referee.bot.input_file import refuse_special

COPY_BYTES_PER_S = 64 * 2**20
"""Greatest rate at which a backup is written: games and pages share the disk and its cache with it."""
_STEPS = 1000
"""Steps of SQLite between two looks at what is written: about half a megabyte."""
_NAME = re.compile(r"arena-([0-9]{8}-[0-9]{6})\.sqlite3")
_STAMP = "%Y%m%d-%H%M%S"
_PARTS = ("", "-wal", "-shm")
"""Suffixes of the files that make up a SQLite database in use."""
_OPEN = "SELECT id FROM games WHERE state IN ('planned', 'queued', 'running')"


def _nothing(share: float) -> None:
    pass


class SqliteBackups:
    """The backups in a folder; each new one deletes those older than `days` days, but never the newest."""

    def __init__(self, folder: Path, days: int) -> None:
        self.folder, self.days = folder, days

    def all(self) -> list[Path]:
        """Return every backup, the oldest first."""
        if not self.folder.is_dir():
            return []
        return sorted(path for path in self.folder.iterdir() if _NAME.fullmatch(path.name))

    def newest(self) -> Path:
        """Return the latest backup. Raises NotFoundError."""
        found = self.all()
        if not found:
            raise NotFoundError("backup in", str(self.folder))
        return found[-1]

    def make(self, file: Path, at: datetime, tell: Callable[[float], None] = _nothing) -> Path:
        """Copy a snapshot of the database, check the copy, and delete old backups; return the new path.

        `tell` is called often with the share that is copied, from 0 to 1.

        Raises OSError, and StoreUnavailableError if the copy fails or the database is damaged.
        """
        make_folder(self.folder)
        path = self.folder / f"arena-{at.astimezone(UTC).strftime(_STAMP)}.sqlite3"
        with unfinished(path) as fresh:
            fresh.unlink(missing_ok=True)
            make_file(fresh)
            _copy(file, fresh, tell)
            if problem := problem_of(fresh):
                raise StoreUnavailableError(f"the backup is not sound: {problem}")
            replace_durably(fresh, path)
        self._delete_old(at)
        return path

    def _delete_old(self, at: datetime) -> None:
        oldest = (at.astimezone(UTC) - timedelta(days=self.days)).strftime(_STAMP)
        for path in self.all()[:-1]:
            found = _NAME.fullmatch(path.name)
            if found and found[1] < oldest:
                path.unlink()


def restore(file: Path, backup: Path, at: datetime) -> Path | None:
    """Replace an unused database by a backup; return the path of the replaced database, if any.

    Raises NotFoundError for a missing backup, BadValueError for a damaged one, ConflictError while the database is
    in use, and OSError.
    """
    refuse_special(backup)
    if not backup.is_file():
        raise NotFoundError("backup", str(backup))
    if problem := problem_of(backup) or ("" if _has_schema(backup) else "it contains no arena"):
        raise BadValueError(f"{backup} is not a sound backup: {problem}", hint="name another file")
    make_folder(file.parent, is_passage=True)
    aside = None
    if file.exists():
        _require_unused(file)
        aside = file.with_name(f"{file.name}.replaced-{at.astimezone(UTC).strftime(_STAMP)}")
    with unfinished(file) as fresh:
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(backup, "rb") as source, open(descriptor, "wb") as to:
            shutil.copyfileobj(source, to)
        # With its WAL, or SQLite would apply the old database's last changes to the restored one.
        for part in _PARTS if aside else ():
            replaced = file.with_name(f"{file.name}{part}")
            if aside and replaced.exists():
                replaced.rename(aside.with_name(f"{aside.name}{part}"))
        replace_durably(fresh, file)
    mark_of(file).unlink(missing_ok=True)
    return aside


def salvage(file: Path, aside: Path) -> Iterator[bytes]:
    """Yield, as JSON, the replaced database's readable records of games that are unfinished in the restored one."""
    with contextlib.closing(sqlite3.connect(file)) as connection:
        games = [game for (game,) in connection.execute(_OPEN)]
    with contextlib.closing(sqlite3.connect(aside)) as connection:
        for game in games:
            with contextlib.suppress(sqlite3.DatabaseError):  # this record is in the damaged part
                row = connection.execute("SELECT data FROM records WHERE game_id = ?", (game,)).fetchone()
                if row is not None:
                    yield unpack_line(row[0])


def _has_schema(file: Path) -> bool:
    """Return whether a sound file has the arena's schema: SQLite finds even an empty file sound."""
    with contextlib.closing(sqlite3.connect(file)) as connection:
        query = "SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'"
        return connection.execute(query).fetchone() is not None


def _copy(file: Path, target: Path, tell: Callable[[float], None]) -> None:
    begin, size = time.monotonic(), 0

    def pace() -> int:
        written = target.stat().st_size
        tell(min(1.0, written / size))
        if (early_s := written / COPY_BYTES_PER_S - (time.monotonic() - begin)) > 0:
            time.sleep(early_s)
        return 0  # continue

    try:
        with contextlib.closing(sqlite3.connect(file, timeout=30, isolation_level=None)) as connection:
            # By the database, as the file lacks what is in its WAL.
            size = math.prod(connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
            connection.set_progress_handler(pace, _STEPS)
            # A copy of the file would lack what is only in its WAL; this reads one snapshot while others write.
            connection.execute("VACUUM INTO ?", (str(target),))
    except sqlite3.Error as error:
        why = "the database is damaged" if is_damage(error) else "cannot make a backup now"
        raise StoreUnavailableError(f"{why}: {error}") from error


def _require_unused(file: Path) -> None:
    """Raise ConflictError while any process has the database open."""
    with contextlib.closing(sqlite3.connect(file, timeout=0, isolation_level=None)) as connection:
        try:
            # In WAL mode, BEGIN EXCLUSIVE alone does not exclude readers (sqlite.org/lang_transaction.html).
            connection.execute("PRAGMA locking_mode=EXCLUSIVE")
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            raise ConflictError(f"{file} is in use ({error}); stop the arena first") from None
        except sqlite3.DatabaseError:  # too damaged to lock, hence not in use
            return


def remove(file: Path) -> None:
    """Delete an unused database with its additional files."""
    for part in _PARTS:
        file.with_name(f"{file.name}{part}").unlink(missing_ok=True)


def replace_durably(fresh: Path, path: Path) -> None:
    """Flush a file to the disk, rename it, and flush its folder."""
    for place in (fresh, path.parent):
        number = os.open(place, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
        if place is fresh:
            fresh.rename(path)
