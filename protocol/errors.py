"""What can be wrong with what the other end said.

    ValueError
    └── ProtocolError     the line, what is wrong with it, what to do next
        ├── LineTooLong   more bytes than a line may have
        ├── BadLine       a verb the language knows, wrongly continued
        ├── OutOfTurn     a message the state does not allow
        └── BadOption     an option or a value that was never announced

Refuses to know what an error costs: whether a game is lost by it is the referee's business.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

SHOWN = 160
"""How many characters of an offending line an error message quotes."""


def visible(text: str) -> str:
    """`text` with everything that does not print (controls, NUL, direction marks) written as an escape."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


class ProtocolError(ValueError):
    """Something the protocol does not allow: `line` is the offending line, `hint` says what to do next."""

    def __init__(self, problem: str, *, line: str = "", hint: str = "") -> None:
        self.problem = problem
        self.line = line
        self.hint = hint
        quoted = visible(line if len(line) <= SHOWN else line[:SHOWN] + "…")
        super().__init__(problem + (f": {quoted!r}" if line else "") + (f"; {hint}" if hint else ""))


class LineTooLong(ProtocolError):  # noqa: N818 - the name says what happened
    """A line of more than `limit` bytes; `length` of them had been seen, `head` is how it begins.

    `complete` holds the lines that were complete before it and have not been handed over otherwise.
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
    """A malformed line of a verb the language knows."""


class OutOfTurn(ProtocolError):  # noqa: N818
    """A message the state of the session does not allow; `state` names that state."""

    def __init__(self, problem: str, *, line: str = "", hint: str = "", state: str = "") -> None:
        self.state = state
        super().__init__(problem, line=line, hint=hint)


class BadOption(ProtocolError):  # noqa: N818
    """An option nobody announced, or a value it does not take.

    `known` are the names or values there are, `near` those that look like `given`.
    """

    def __init__(self, what: str, given: str, known: Iterable[str], *, line: str = "") -> None:
        self.given = given
        self.known = tuple(known)
        self.near = tuple(difflib.get_close_matches(given[:100], self.known, n=3, cutoff=0.4))
        if self.near:
            hint = "did you mean " + " or ".join(self.near)
        elif self.known:
            more = f" and {len(self.known) - 12} more" if len(self.known) > 12 else ""
            hint = "known: " + ", ".join(self.known[:12]) + more
        else:
            hint = "there is none"
        shown = visible(given if len(given) <= SHOWN else given[:SHOWN] + "…")
        super().__init__(f"{what} {shown!r} does not exist", line=line, hint=hint)
