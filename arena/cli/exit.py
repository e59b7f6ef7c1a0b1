"""The exit codes of every command, and the exception that ends one with a message.

Refuses to know any command.
"""

from __future__ import annotations

import enum


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


class CommandError(Exception):
    """Ends the command with an exit code. The message says what is wrong, where, and what to do."""

    def __init__(self, message: str, code: Exit = Exit.USAGE) -> None:
        self.code = code
        super().__init__(message)
