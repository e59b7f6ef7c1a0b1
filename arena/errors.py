"""Errors of the arena; `referee.errors` has their base class, and the table of their kinds.

ArenaError
├── ForbiddenError, UnauthorisedError
└── StoreError
    ├── StoreUnavailableError   locked, full, unreachable: try again later
    │   ├── StorageError        the disk is full or read-only
    │   ├── DamagedDatabaseError    the file is damaged: restore a backup
    │   └── LeaseLostError      another coordinator has the lease: nothing was written
    ├── SchemaError             the database has another schema than the program
    │   └── EmptyDatabaseError  it has no tables or no rows
    ├── NotFoundError           the object does not exist
    ├── ConflictError           the object's state does not allow it
    │   └── TakenError          a name is taken: choose another one
    ├── QuotaError              the user's limit is exceeded
    └── BadValueError           an invalid value or cursor
"""

from __future__ import annotations

import errno
from collections.abc import Iterable

from arena.names import NAME_RULE, is_name
from referee.errors import ArenaError, Exit, did_you_mean, near


class ForbiddenError(ArenaError):
    """The caller lacks the permission."""

    kind = "forbidden"


class UnauthorisedError(ArenaError):
    """Missing or invalid credentials."""

    kind = "unauthorised"


class StoreError(ArenaError):
    """The database, the bundle store or a use case rejects an operation."""


class StoreUnavailableError(StoreError):
    """The store cannot be used now: locked, full, read-only or unreachable. Nothing was changed."""

    kind = "unavailable"


class StorageError(StoreUnavailableError):
    """The disk is full or cannot be written. Nothing was changed."""

    kind = "storage"

    def __init__(self, message: str) -> None:
        super().__init__(message, hint="ask the operator of this server to free disk space, then try again")


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
    """The object does not exist. `noun` and `name` describe it; similar names in `known` are suggested."""

    kind = "not-found"

    def __init__(self, noun: str, name: object, known: Iterable[str] = ()) -> None:
        self.noun, self.name = noun, name
        similar = near(str(name), known)
        message = f"no {noun} {name!r}" if isinstance(name, str) else f"no {noun} {name}"
        hint = did_you_mean(similar)
        if not hint and noun in ("bot", "user") and not is_name(str(name)):
            hint = f"invalid name: write {NAME_RULE}"
            self.own_exit = Exit.USAGE  # it can exist nowhere
        super().__init__(message, hint=hint, near=similar)


class ConflictError(StoreError):
    """The operation is not possible in the current `state` of the object."""

    kind = "conflict"

    def __init__(self, message: str, state: str = "") -> None:
        self.state = state
        super().__init__(message, state=state)


class TakenError(ConflictError):
    """The requested name is taken, the problem exists already, or the database is not empty."""

    own_exit = Exit.USAGE  # the user must give another name on the command line


class QuotaError(StoreError):
    """The user's limit is exceeded; the message names it."""

    kind = "forbidden"


class BadValueError(StoreError, ValueError):
    """An invalid value or cursor."""


_STORAGE = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "the disk of the server is full"),
    errno.EROFS: "the disk of the server cannot be written",
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EIO), "the disk of the server cannot be used"),
}


def storage_problem(error: OSError) -> str:
    """Return what is wrong with the disk, or an empty string if the system error has another cause."""
    return _STORAGE.get(error.errno or 0, "")
