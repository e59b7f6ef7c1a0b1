"""The failures of a game, one class for each party at fault.

BotError        the bot failed: it loses the game
SandboxError    the bot could not be started in its sandbox: the arena is at fault, the game is void
Stopped         the game was called off from outside: no one is at fault
"""

from __future__ import annotations

from referee.rules.core import Termination


class BotError(Exception):
    """A failure of a bot. `termination` says how it ends the game, `detail` is the evidence (line, exit code …).

    `exit_code` is that of its process if the failure is that it ended, negative for a signal.
    """

    def __init__(self, termination: Termination, detail: str, *, exit_code: int | None = None) -> None:
        super().__init__(f"{termination}: {detail}")
        self.termination = termination
        self.detail = detail
        self.exit_code = exit_code


class SandboxError(Exception):
    """A bot that could not be started in its sandbox: the fault of the arena, not of the bot."""


class Stopped(Exception):  # noqa: N818 - not an error
    """A game that was called off from outside."""
