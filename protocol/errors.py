"""Errors for invalid messages of the other end.

    ValueError
    └── ProtocolError     the line, what is wrong with it, what to do next
        ├── LineTooLong   more bytes than a line may have
        ├── BadLine       a known verb with invalid arguments
        ├── OutOfTurn     a message that the state does not allow
        └── BadOption     an option or a value that was never announced

The referee decides whether an error forfeits the game.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

SHOWN = 160
"""Maximum number of characters of an offending line in an error message."""


def visible(text: str) -> str:
    """Escape every character of `text` that does not print: control characters, NUL, direction marks."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


class ProtocolError(ValueError):
    """A violation of the protocol: `line` is the offending line, `hint` says what to do next."""

    def __init__(self, problem: str, *, line: str = "", hint: str = "") -> None:
        self.problem = problem
        self.line = line
        self.hint = hint
        quoted = visible(line if len(line) <= SHOWN else line[:SHOWN] + "…")
        super().__init__(problem + (f": {quoted!r}" if line else "") + (f"; {hint}" if hint else ""))


class LineTooLong(ProtocolError):  # noqa: N818 - the name describes the violation
    """A line of more than `limit` bytes. `length` is the number of bytes seen so far, `head` the beginning of the line.

    `complete` holds the complete lines before it, which `feed` has not returned.
    """

    def __init__(self, *, length: int, limit: int, head: bytes, complete: Iterable[bytes] = ()) -> None:
        self.length = length
        self.limit = limit
        self.head = head
        self.complete = list(complete)
        super().__init__(
            f"a line of {length} bytes or more, {limit} are allowed",
            line=head.decode("utf-8", "replace"),
            hint="end every line with a newline and keep it short",
        )


class BadLine(ProtocolError):  # noqa: N818
    """A known verb with invalid arguments."""


class OutOfTurn(ProtocolError):  # noqa: N818
    """A message that the state of the session does not allow; `state` is the name of that state."""

    def __init__(self, problem: str, *, line: str = "", hint: str = "", state: str = "") -> None:
        self.state = state
        super().__init__(problem, line=line, hint=hint)


class BadOption(ProtocolError):  # noqa: N818
    """An option that was not announced, or an invalid value of one.

    `known` are the valid names or values, `near` those similar to `given`.
    """

    def __init__(self, subject: str, given: str, known: Iterable[str], *, line: str = "") -> None:
        self.given = given
        self.known = tuple(known)
        self.near = tuple(difflib.get_close_matches(given[:100], self.known, n=3, cutoff=0.4))
        if self.near:
            hint = "did you mean " + " or ".join(self.near)
        elif self.known:
            more = f" and {len(self.known) - 12} more" if len(self.known) > 12 else ""
            hint = "known: " + ", ".join(self.known[:12]) + more
        else:
            hint = "none exists"
        shown = visible(given if len(given) <= SHOWN else given[:SHOWN] + "…")
        super().__init__(f"{subject} {shown!r} does not exist", line=line, hint=hint)
