"""What can go wrong in the arena, and what each kind of it means to whom: one table of HTTP statuses and exit codes.

An error says its kind; entry points only translate: the JSON interface and the pages by `status`, the command line by
`exit`. Refuses to know who raises what.
"""

from __future__ import annotations

import enum
import errno
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


class Exit(enum.IntEnum):
    """What the exit code of a command says, the same everywhere."""

    DONE = 0
    FAILED = 1
    """The thing itself failed: a check, a validation."""
    USAGE = 2
    """A command line or an input that cannot be used."""
    NOT_FOUND = 3
    REFUSED = 4
    """Not allowed, or more than allowed."""
    UNREACHABLE = 5
    """A server or a service does not answer."""
    INTERRUPTED = 130
    UNREAD = 141
    """Whoever read the output has gone, such as `head`; 128 and the signal of broken pipes, as from other programs."""


@dataclass(frozen=True, slots=True)
class ErrorKind:
    """One kind of error: its HTTP status, its exit code, its title, and what it means to a client."""

    status: int
    exit: Exit
    title: str
    meaning: str


KINDS: Mapping[str, ErrorKind] = {
    "bad-request": ErrorKind(
        400, Exit.USAGE, "The request cannot be read", "Not HTTP, not JSON or not text as promised."
    ),
    "unauthorised": ErrorKind(
        401, Exit.REFUSED, "Who are you?", "No token, or one that is unknown, expired or revoked."
    ),
    "forbidden": ErrorKind(
        403, Exit.REFUSED, "Not allowed", "The token's scopes or the user's role do not reach that far."
    ),
    "not-found": ErrorKind(404, Exit.NOT_FOUND, "Not found", "No such thing; `near` lists the names most like it."),
    "method": ErrorKind(405, Exit.USAGE, "Not done this way", "The `Allow` header lists the methods of this address."),
    "not-acceptable": ErrorKind(406, Exit.USAGE, "No such form", "The `Accept` header names no form this address has."),
    "conflict": ErrorKind(409, Exit.FAILED, "The present state does not allow it", "`state` says what it is."),
    "too-large": ErrorKind(413, Exit.USAGE, "Too large", "`limit` says how many bytes are taken."),
    "too-long": ErrorKind(414, Exit.USAGE, "The address is too long", "No address needs more than 8,000 bytes."),
    "media-type": ErrorKind(415, Exit.USAGE, "Not in this form", "The body is of a type this address does not take."),
    "invalid": ErrorKind(
        422, Exit.USAGE, "The values cannot be used", "`field` names the first, `errors` lists all of them."
    ),
    "too-many": ErrorKind(
        429, Exit.REFUSED, "Too many requests", "`Retry-After` says in how many seconds there is room."
    ),
    "internal": ErrorKind(
        500, Exit.UNREACHABLE, "A fault of this server", "It is in the server's log under `request`."
    ),
    "unavailable": ErrorKind(
        503,
        Exit.UNREACHABLE,
        "Not just now",
        "The database or the disk does not answer, or too many wait; try again soon.",
    ),
    "storage": ErrorKind(
        507,
        Exit.UNREACHABLE,
        "Insufficient Storage",
        "The disk of the server is full or cannot be written: nothing was stored. What is there can be read.",
    ),
}
_BY_STATUS = {kind.status: name for name, kind in KINDS.items()}


def kind_of_status(status: int) -> str:
    """The kind an HTTP status from 400 on stands for; of one that is not in the table the nearest."""
    return _BY_STATUS.get(status, "bad-request" if status < 500 else "unavailable")


class ArenaError(Exception):
    """An error with a cause outside the program. The message says what happened, to what, and where.

    `hint` says what to do, `field` which value is meant, `extra` are further members of a problem document, such as
    `near`. A class says its `kind`, a row of `KINDS`.
    """

    kind = "invalid"
    own_exit: Exit | None = None
    """The exit code, where a command ends by another one than the kind has."""

    def __init__(self, message: str, *, hint: str = "", field: str | None = None, **extra: Any) -> None:
        self.hint, self.field, self.extra = hint, field, extra
        super().__init__(message)

    @property
    def status(self) -> int:
        """The HTTP status."""
        return KINDS[self.kind].status

    @property
    def exit(self) -> Exit:
        """The exit code of a command that it ends."""
        return self.own_exit or KINDS[self.kind].exit


class ForbiddenError(ArenaError):
    """Who asks may not do that."""

    kind = "forbidden"


class UnauthorisedError(ArenaError):
    """Nobody, or somebody who cannot show to be who it is."""

    kind = "unauthorised"


class StoreError(ArenaError):
    """What is kept, in the database or as bundles, does not do what was asked; `arena.store.base.errors` has its kinds.

    Named here for those that need no database, such as whoever plays games with bundles.
    """


class StoreUnavailableError(StoreError):
    """It cannot be used now: locked, full, read-only, unreachable. Nothing was changed."""

    kind = "unavailable"


class StorageError(StoreUnavailableError):
    """The disk is full, or cannot be written. Nothing was changed."""

    kind = "storage"

    def __init__(self, message: str) -> None:
        super().__init__(message, hint="the people who run this server have to make room on its disk; then try again")


_STORAGE = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "the disk of the server is full"),
    errno.EROFS: "the disk of the server cannot be written",
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EIO), "the disk of the server cannot be used"),
}


def storage_problem(error: OSError) -> str:
    """Say what is wrong with the disk; empty where an error of the system has another cause."""
    return _STORAGE.get(error.errno or 0, "")


def near(name: str, known: Iterable[str], limit: int = 3) -> list[str]:
    """The known names most like `name`, best first."""
    import difflib

    names = {one.lower(): one for one in known}
    return [names[one] for one in difflib.get_close_matches(name.lower()[:100], list(names), n=limit, cutoff=0.5)]


def did_you_mean(found: Iterable[str]) -> str:
    """The hint of near names; empty without any."""
    words = " or ".join(found)
    return f"did you mean {words}?" if words else ""
