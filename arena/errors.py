"""Errors of the arena, with one table that maps each kind to an HTTP status and an exit code.

An error names its kind. Entry points only translate it: the JSON interface and the pages use `status`, the command line
uses `exit`.

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

import enum
import errno
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from arena.names import NAME_RULE, is_name


class Exit(enum.IntEnum):
    """Exit codes of all commands."""

    DONE = 0
    FAILED = 1
    """The command ran and its check or validation failed."""
    USAGE = 2
    """The command line or an input is invalid."""
    NOT_FOUND = 3
    REFUSED = 4
    """Not allowed, or a limit is exceeded."""
    UNREACHABLE = 5
    """A server or a service does not answer."""
    INTERRUPTED = 130
    UNREAD = 141
    """The reader of the output, such as `head`, has closed the pipe. As by convention, 128 plus the number of SIGPIPE.
    """


@dataclass(frozen=True, slots=True)
class ErrorKind:
    """A kind of error: its HTTP status, exit code, title (as in RFC 9110) and meaning for clients."""

    status: int
    exit: Exit
    title: str
    meaning: str


KINDS: Mapping[str, ErrorKind] = {
    "bad-request": ErrorKind(400, Exit.USAGE, "Bad request", "The request is not valid HTTP, JSON or text."),
    "unauthorised": ErrorKind(
        401, Exit.REFUSED, "Authentication required", "The token is missing, unknown, expired or revoked."
    ),
    "forbidden": ErrorKind(403, Exit.REFUSED, "Forbidden", "The token's scopes or your role do not allow this."),
    "not-found": ErrorKind(
        404, Exit.NOT_FOUND, "Not found", "Nothing has this address or name; `near` lists similar names."
    ),
    "method": ErrorKind(405, Exit.USAGE, "Method not allowed", "The `Allow` header lists the supported methods."),
    "not-acceptable": ErrorKind(
        406, Exit.USAGE, "Not acceptable", "None of the media types in `Accept` is available here."
    ),
    "conflict": ErrorKind(409, Exit.FAILED, "Conflict", "The present state does not allow this; `state` names it."),
    "too-large": ErrorKind(413, Exit.USAGE, "Content too large", "`limit` is the maximum number of bytes."),
    "too-long": ErrorKind(414, Exit.USAGE, "URI too long", "Addresses have at most 8,000 bytes."),
    "media-type": ErrorKind(
        415, Exit.USAGE, "Unsupported media type", "This address does not accept the body's media type."
    ),
    "invalid": ErrorKind(
        422, Exit.USAGE, "Unprocessable content", "A value is invalid: `field` names the first one, `errors` lists all."
    ),
    "too-many": ErrorKind(
        429, Exit.REFUSED, "Too many requests", "Wait for the seconds in `Retry-After`, then try again."
    ),
    "internal": ErrorKind(
        500,
        Exit.UNREACHABLE,
        "Internal server error",
        "The server's log has the details under the number in `request`.",
    ),
    "unavailable": ErrorKind(
        503,
        Exit.UNREACHABLE,
        "Service unavailable",
        "The database or the disk does not answer, or the server is overloaded; try again soon.",
    ),
    "storage": ErrorKind(
        507,
        Exit.UNREACHABLE,
        "Insufficient storage",
        "The server's disk is full or read-only: nothing was stored. Stored data can still be read.",
    ),
}
_BY_STATUS = {kind.status: name for name, kind in KINDS.items()}


def kind_of_status(status: int) -> str:
    """Return the kind of an HTTP status from 400 on. A status that is not in the table gets the nearest kind."""
    return _BY_STATUS.get(status, "bad-request" if status < 500 else "unavailable")


class ArenaError(Exception):
    """An error with a cause outside the program. The message says what happened, to what, and where.

    `hint` says what to do, `field` names the invalid value, `extra` holds further members of a problem document, such
    as `near`. Each class sets its `kind`, a key of `KINDS`.
    """

    kind = "invalid"
    own_exit: Exit | None = None
    """The exit code of a command, where it differs from that of the kind."""

    def __init__(self, message: str, *, hint: str = "", field: str | None = None, **extra: Any) -> None:
        self.hint, self.field, self.extra = hint, field, extra
        super().__init__(message)

    @property
    def status(self) -> int:
        """The HTTP status."""
        return KINDS[self.kind].status

    @property
    def exit(self) -> Exit:
        """The exit code of a command that fails with this error."""
        return self.own_exit or KINDS[self.kind].exit


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
        found = near(str(name), known)
        message = f"no {noun} {name!r}" if isinstance(name, str) else f"no {noun} {name}"
        hint = did_you_mean(found)
        if not hint and noun in ("bot", "user") and not is_name(str(name)):
            hint = f"invalid name: write {NAME_RULE}"
        super().__init__(message, hint=hint, near=found)


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


def near(name: str, known: Iterable[str], limit: int = 3) -> list[str]:
    """Return the known names most similar to `name`, best first."""
    import difflib

    names = {one.lower(): one for one in known}
    return [names[one] for one in difflib.get_close_matches(name.lower()[:100], list(names), n=limit, cutoff=0.6)]


def did_you_mean(found: Iterable[str]) -> str:
    """Return a hint that lists similar names; empty if there are none."""
    words = " or ".join(found)
    return f"did you mean {words}?" if words else ""
