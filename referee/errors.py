"""The base class of errors that are shown to users, the kinds of errors, and suggestions of what users may have meant.

An error names its kind. Entry points only translate it: the JSON interface and the pages use `status`, the command line
uses `exit`.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


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
        return KINDS[self.kind].status

    @property
    def exit(self) -> Exit:
        """The exit code of a command that fails with this error."""
        return self.own_exit or KINDS[self.kind].exit


def near(name: str, known: Iterable[str], limit: int = 3) -> list[str]:
    """Return the known names most similar to `name`, best first."""
    import difflib

    names = {one.lower(): one for one in known}
    return [names[one] for one in difflib.get_close_matches(name.lower()[:100], list(names), n=limit, cutoff=0.6)]


def did_you_mean(found: Iterable[str]) -> str:
    """Return a hint that lists similar names; empty if there are none."""
    words = " or ".join(found)
    return f"did you mean {words}?" if words else ""
