"""Errors of the store.

StoreError
├── StoreUnavailableError   locked, full, unreachable: try again later
│   ├── StorageError        the disk is full or read-only
│   ├── DamagedDatabaseError    the file is damaged: restore a backup
│   └── LeaseLostError      another coordinator has the lease: nothing was written
├── SchemaError             the database has another schema than the program
│   └── EmptyDatabaseError  it has no tables or no rows
├── NotFoundError           the object does not exist
├── ConflictError           the object's state does not allow it
│   └── TakenError          a name or place is taken: choose another one
├── QuotaError              the user's limit is exceeded
└── BadValueError           an invalid value or cursor
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from sqlalchemy import exc

from arena.errors import Exit, StorageError, StoreError, StoreUnavailableError, did_you_mean, near
from arena.store.base.credentials import NAME_RULE, is_name


class DamagedDatabaseError(StoreUnavailableError):
    """The database is damaged. Reading is allowed as far as it works; writing is not."""

    def __init__(self, problem: str) -> None:
        self.problem = problem
        hint = "stop the arena, restore a backup (`arena db restore`), start it again"
        super().__init__(f"the database is damaged: {problem}", hint=hint)


class LeaseLostError(StoreUnavailableError):
    """Another coordinator has the lease that this write requires. Nothing was changed."""


class SchemaError(StoreError):
    """The database does not have the program's schema; the message names the command that helps."""

    kind = "unavailable"
    own_exit = Exit.USAGE  # the database exists: the user named the wrong one, or must upgrade it first


class EmptyDatabaseError(SchemaError):
    """The database has no tables or no rows: there is nothing to read or to check."""

    own_exit = Exit.NOT_FOUND


class NotFoundError(StoreError, LookupError):
    """The object does not exist. `noun` and `name` describe it; similar names of `known` are suggested."""

    kind = "not-found"

    def __init__(self, noun: str, name: object, known: Iterable[str] = ()) -> None:
        self.noun, self.name = noun, name
        found = near(str(name), known)
        message = f"no {noun} {name!r}" if isinstance(name, str) else f"no {noun} {name}"
        hint = did_you_mean(found)
        if not hint and noun in ("bot", "user") and not is_name(str(name)):
            hint = f"invalid name: write {NAME_RULE}"
        super().__init__(message, hint=hint, near=found)


class ConflictError(StoreError):
    """The present state does not allow it; `state` is that state if there is one."""

    kind = "conflict"

    def __init__(self, message: str, state: str = "") -> None:
        self.state = state
        super().__init__(message, state=state)


class TakenError(ConflictError):
    """The requested name or place is taken, or the database is not empty."""

    own_exit = Exit.USAGE  # the user must give another name on the command line


class QuotaError(StoreError):
    """The user's limit is exceeded; the message names it."""

    kind = "forbidden"


class BadValueError(StoreError, ValueError):
    """An invalid value or cursor."""


__all__ = [
    "BadValueError",
    "ConflictError",
    "DamagedDatabaseError",
    "EmptyDatabaseError",
    "LeaseLostError",
    "NotFoundError",
    "QuotaError",
    "SchemaError",
    "StoreError",
    "StoreUnavailableError",
    "TakenError",
    "is_damage",
    "translated",
]


@contextmanager
def translated() -> Iterator[None]:
    """Translate errors of the database driver into those above; programming errors pass unchanged."""
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
