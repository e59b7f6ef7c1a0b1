"""Translation of errors of database drivers into those of `arena.errors`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import exc

from arena.errors import (
    BadValueError,
    DamagedDatabaseError,
    SchemaError,
    StorageError,
    StoreError,
    StoreUnavailableError,
)


@contextmanager
def translated() -> Iterator[None]:
    """Translate the driver's errors in the block to those of `arena.errors`; programming errors pass unchanged."""
    try:
        yield
    except (exc.DataError, OverflowError, UnicodeEncodeError) as error:
        raise BadValueError(f"the database cannot store this value: {_reason(error)}") from error
    except exc.DBAPIError as error:
        found = _translation(error)
        if found is None:
            raise
        raise found from error
    except exc.TimeoutError as error:
        raise StoreUnavailableError("all connections to the database are in use; retry soon") from error


def _translation(error: exc.DBAPIError) -> StoreError | None:
    """Return the store's error for an error of the driver; None for a programming error."""
    found: StoreError | None = None
    is_outage = isinstance(error, (exc.OperationalError, exc.InterfaceError, exc.InternalError))
    is_wrong = isinstance(error, exc.ProgrammingError)
    if error.orig is not None and is_damage(error.orig):
        found = DamagedDatabaseError(_reason(error))
    elif error.orig is not None and (problem := _storage_problem(error.orig)):
        found = StorageError(problem)
    elif (is_outage or is_wrong) and _is_missing_table(error):
        found = SchemaError(f"{_reason(error)}; run `arena db upgrade`")
    elif is_wrong and "NUL" in str(error.orig):
        found = BadValueError("the database cannot store a text with a NUL character")
    elif is_outage or error.connection_invalidated:
        found = StoreUnavailableError(f"the database cannot be used now: {_reason(error)}")
    return found


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
