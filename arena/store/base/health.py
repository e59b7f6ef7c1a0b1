"""Troubles of the database: errors of its drivers as those of `arena.errors`, and the detection of damage.

A process that finds the database damaged creates a mark that every process of the machine sees: a file next to the
SQLite database. A damaged database may still be read, but not written: new data would be lost with it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Engine, exc

from arena.errors import (
    BadValueError,
    DamagedDatabaseError,
    SchemaError,
    StorageError,
    StoreError,
    StoreUnavailableError,
)
from arena.log import logger


@contextmanager
def translated() -> Iterator[None]:
    """Translate the driver's errors in the block to those of `arena.errors`; programming errors pass unchanged."""
    try:
        yield
    except (exc.DataError, OverflowError, UnicodeEncodeError) as error:
        raise BadValueError(f"the database cannot store this value: {_reason(error)}") from error
    except exc.DBAPIError as error:
        translation = _translation(error)
        if translation is None:
            raise
        raise translation from error
    except exc.TimeoutError as error:
        raise StoreUnavailableError("all connections to the database are in use; retry soon") from error


def _translation(error: exc.DBAPIError) -> StoreError | None:
    """Return the store's error for an error of the driver; None for a programming error."""
    translation: StoreError | None = None
    is_outage = isinstance(error, (exc.OperationalError, exc.InterfaceError, exc.InternalError))
    is_wrong = isinstance(error, exc.ProgrammingError)
    if error.orig is not None and is_damage(error.orig):
        translation = DamagedDatabaseError(_reason(error))
    elif error.orig is not None and (problem := _storage_problem(error.orig)):
        translation = StorageError(problem)
    elif (is_outage or is_wrong) and _is_missing_table(error):
        translation = SchemaError(f"{_reason(error)}; run `arena db upgrade`")
    elif is_wrong and "NUL" in str(error.orig):
        translation = BadValueError("the database cannot store a text with a NUL character")
    elif is_outage or error.connection_invalidated:
        translation = StoreUnavailableError(f"the database cannot be used now: {_reason(error)}")
    return translation


def _storage_problem(error: BaseException) -> str:
    """Describe a problem with the disk; return an empty string for other errors."""
    name = getattr(error, "sqlite_errorname", "") or type(error).__name__
    if name in ("SQLITE_FULL", "DiskFull"):
        return "the disk of the server is full: the database cannot grow"
    if name.startswith("SQLITE_READONLY"):
        return "the disk of the server cannot be written: the database is read-only"
    if name in ("SQLITE_IOERR_WRITE", "SQLITE_IOERR_SHMSIZE", "SQLITE_IOERR_FSYNC"):
        return "the disk of the server cannot be written: it is full, or it fails"
    return ""


def is_damage(error: BaseException) -> bool:
    """Return whether the driver reports that the database itself is damaged."""
    name = getattr(error, "sqlite_errorname", "") or type(error).__name__
    return name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")) or name in ("DataCorrupted", "IndexCorrupted")


def _reason(error: Exception) -> str:
    """Return the driver's message on one line."""
    cause = getattr(error, "orig", None) or error
    return " ".join(str(cause).split())


def _is_missing_table(error: exc.DBAPIError) -> bool:
    words = str(error.orig)
    return "no such table" in words or "no such column" in words or type(error.orig).__name__ in _UNDEFINED


_UNDEFINED = ("UndefinedTable", "UndefinedColumn")


_MAX_PROBLEMS = 5
"""Maximum number of problems reported by one check."""


class Health:
    """The health of one database as known to this process, which remembers damage until it restarts."""

    def __init__(self, engine: Engine) -> None:
        is_file = engine.dialect.name == "sqlite" and engine.url.database
        self.file = Path(str(engine.url.database)) if is_file else None
        """The SQLite file; None for a database server, which detects damage itself."""
        self._found = ""

    @property
    def damage(self) -> str:
        """The known damage; empty if the database is sound. Raises StoreUnavailableError."""
        if not self._found and self.file is not None and mark_of(self.file).exists():
            self.check()  # another process, or this one before a restart, has found damage: check whether it persists
        return self._found

    def require_sound(self) -> None:
        """Raise DamagedDatabaseError, naming the command that helps, if damage is known."""
        if problem := self.damage:
            raise DamagedDatabaseError(problem)

    def note(self, problem: str) -> None:
        """Record damage and log it once."""
        if self._found:
            return
        self._found = problem
        logger("store").error("database damaged", problem=problem, hint=DamagedDatabaseError(problem).hint)
        if self.file is not None:
            try:
                mark_of(self.file).write_text(f"{problem}\n", encoding="utf-8")
            except OSError as error:
                logger("store").error("damage not marked", error=str(error))

    def check(self) -> str:
        """Check the whole file, which takes minutes if it is large; return the damage, empty if it is sound.

        Does nothing for a database server. Raises StoreUnavailableError if the file cannot be read now.
        """
        if self.file is None:
            return ""
        problem = problem_of(self.file)
        if problem:
            self.note(problem)
        else:
            mark_of(self.file).unlink(missing_ok=True)
        return problem


def mark_of(file: Path) -> Path:
    """Return the path of the file that marks a database as damaged."""
    return file.with_name(f"{file.name}.damage")


def problem_of(file: Path) -> str:
    """Return the problems that SQLite's own check reports; empty if the file is sound. Raises StoreUnavailableError."""
    try:
        connection = sqlite3.connect(file, timeout=5)
        try:
            # Unlike integrity_check it does not compare indexes with tables, and takes linear time
            # (sqlite.org/pragma.html).
            lines = [str(line) for (line,) in connection.execute(f"PRAGMA quick_check({_MAX_PROBLEMS})")]
        finally:
            connection.close()
    except sqlite3.Error as error:
        if not is_damage(error):
            raise StoreUnavailableError(f"cannot check {file} now: {error}") from error
        return str(error)
    return "" if lines == ["ok"] else "; ".join(" ".join(line.split()) for line in lines)[:500]
