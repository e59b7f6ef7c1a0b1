"""What can go wrong in the store, as others see it. Refuses to know HTTP and exit codes.

StoreError
├── StoreUnavailableError   locked, full, unreachable: try again later
│   └── LeaseLostError      somebody else coordinates: what was to be written was not
├── SchemaError             the database has another schema than the program
├── NotFoundError           there is no such thing
├── ConflictError           it is not in a state for that
│   └── TakenError          a name is somebody's, a place is filled: another one helps
├── QuotaError              more than the user may have
└── BadValueError           a value or a cursor that cannot be used
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from sqlalchemy import exc

from arena.errors import ArenaError, Exit, did_you_mean, near


class StoreError(ArenaError):
    """Any of the above. The message says what happened to what, and where possible what to do."""


class StoreUnavailableError(StoreError):
    """The database cannot be used now: locked, full, read-only, unreachable. Nothing was changed."""

    kind = "unavailable"


class LeaseLostError(StoreUnavailableError):
    """Somebody else has the lease under which this was to be written. Nothing was changed."""


class SchemaError(StoreError):
    """The schema of the database is not the program's; the message names the command that helps."""

    kind = "unavailable"
    own_exit = Exit.USAGE  # the database is there: the command was given the wrong one, or comes too early


class NotFoundError(StoreError, LookupError):
    """There is no such thing. `noun` and `name` say what was looked for; near ones of `known` are named."""

    kind = "not-found"

    def __init__(self, noun: str, name: object, known: Iterable[str] = ()) -> None:
        self.noun, self.name = noun, name
        found = near(str(name), known)
        message = f"no {noun} {name!r}" if isinstance(name, str) else f"no {noun} {name}"
        super().__init__(message, hint=did_you_mean(found), near=found)


class ConflictError(StoreError):
    """Not possible in the present state. `state` is that state, where there is one."""

    kind = "conflict"

    def __init__(self, message: str, state: str = "") -> None:
        self.state = state
        super().__init__(message, state=state)


class TakenError(ConflictError):
    """What is asked for is somebody's already, or filled: a name, a database."""

    own_exit = Exit.USAGE  # the words of the command line are to be others


class QuotaError(StoreError):
    """More than this user may have; the message names the limit."""

    kind = "forbidden"


class BadValueError(StoreError, ValueError):
    """A value the store cannot take, or a cursor it did not give out."""


@contextmanager
def translated() -> Iterator[None]:
    """Turn what the database driver raises into the errors above; faults of the program pass unchanged."""
    try:
        yield
    except (exc.DataError, OverflowError, UnicodeEncodeError) as error:
        raise BadValueError(f"a value the database cannot hold: {_reason(error)}") from error
    except exc.TimeoutError as error:
        raise StoreUnavailableError("all connections to the database are in use; try again soon") from error
    except (exc.OperationalError, exc.InterfaceError, exc.InternalError) as error:
        if _is_missing_table(error):
            raise SchemaError(f"{_reason(error)}; run `arena db upgrade`") from error
        raise StoreUnavailableError(f"the database cannot be used now: {_reason(error)}") from error
    except exc.ProgrammingError as error:
        if _is_missing_table(error):
            raise SchemaError(f"{_reason(error)}; run `arena db upgrade`") from error
        if "NUL" in str(error.orig):
            raise BadValueError("a text with a NUL character, which the database cannot hold") from error
        raise
    except exc.DBAPIError as error:
        if error.connection_invalidated or type(error) is exc.DatabaseError:  # so SQLite calls a damaged file
            raise StoreUnavailableError(f"the database cannot be used: {_reason(error)}") from error
        raise


def _reason(error: Exception) -> str:
    """The driver's own words, on one line."""
    cause = getattr(error, "orig", None) or error
    return " ".join(str(cause).split())


def _is_missing_table(error: exc.DBAPIError) -> bool:
    words = str(error.orig)
    return "no such table" in words or "no such column" in words or type(error.orig).__name__ in _UNDEFINED


_UNDEFINED = ("UndefinedTable", "UndefinedColumn")
