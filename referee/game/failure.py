"""The failures of a game, one class for each party at fault.

BotError        the bot failed: it loses the game
SandboxError    the bot could not be started in its sandbox: the arena is at fault, the game is void
Stopped         the game was called off from outside: no one is at fault
"""

from __future__ import annotations

from enum import StrEnum

from referee.rules.core import Termination


class Reason(StrEnum):
    """The reason of a failure, where its termination does not say it: `referee.check.cause` advises by it."""

    LATE = "late"
    """It gave no answer, or none in time."""
    LONG_LINE = "long-line"
    NO_PROGRAM = "no-program"
    NOT_EXECUTABLE = "not-executable"
    NOT_STARTED = "not-started"
    """The kernel could not start its program."""


class BotError(Exception):
    """A failure of a bot. `termination` says how it ends the game, `detail` is the evidence (line, exit code …).

    `exit_code` is that of its process if the failure is that it ended, negative for a signal.
    """

    def __init__(
        self, termination: Termination, detail: str, *, exit_code: int | None = None, reason: Reason | None = None
    ) -> None:
        super().__init__(f"{termination}: {detail}")
        self.termination = termination
        self.detail = detail
        self.exit_code = exit_code
        self.reason = reason


class SandboxError(Exception):
    """A bot that could not be started in its sandbox: the fault of the arena, not of the bot."""


class Stopped(Exception):  # noqa: N818 - not an error
    """A game that was called off from outside."""
