"""The cause of a failed check in one sentence, and what the bot's author can do.

It is derived from how the bot ended and from the end of its standard error, which only its author may see.
"""

from __future__ import annotations

from dataclasses import dataclass

from referee.game.failure import BotError
from referee.rules.core import Termination

_NO_MEMORY = (
    "MemoryError",
    "bad_alloc",
    "OutOfMemory",
    "Cannot allocate memory",
    "out of memory",
    "Insufficient memory",
)
"""Messages of programs that ran out of memory."""
_LINES = 6
"""Lines of standard error that are quoted."""
_MORE_MEMORY = "use less memory, or allow it more: --memory MB"


@dataclass(frozen=True, slots=True)
class Cause:
    """`detail` is the sentence, `advice` what to do; `said` are the last lines of its standard error."""

    detail: str
    advice: str
    said: str = ""


def cause_of(error: BotError, log: str, advice: str) -> Cause:
    """Return the cause of a failure; `advice` is used if nothing better is known."""
    detail, how = str(error), error.detail
    said = "\n".join([line.rstrip() for line in log.splitlines() if line.strip()][-_LINES:])
    if error.termination is Termination.MEMORY_LIMIT:
        advice = _MORE_MEMORY
    elif any(words in said for words in _NO_MEMORY):
        detail, advice = f"out of memory: {detail}", _MORE_MEMORY
    elif "exit code 126" in how or "exit code 127" in how:
        found = "not to be run" if "exit code 126" in how else "not found"
        detail = f"{found} in the sandbox: {detail}"
        advice = "put the program, its interpreter and its libraries where the bot is, or name what the sandbox has"
    elif "exit code 0" in how:
        detail, advice = f"starts, but ends: {detail}", "read lines until `quit`, and do not end before"
    elif "exit code" in how or "killed by" in how:
        advice = "fix the error on standard error" if said else "start it by hand and type the lines shown"
    return Cause(detail, advice, said)
