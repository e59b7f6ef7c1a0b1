"""The failures of a game, by whose fault they are.

BotError        the bot failed: it loses the game
SandboxError    the bot could not be started in its sandbox: our fault, the game is void
Stopped         the game was called off from outside: no one's fault
"""

from __future__ import annotations

from referee.rules.core import Termination


class BotError(Exception):
    """A failure of a bot. `termination` is the verdict, `detail` one sentence with stage, line and exit code."""

    def __init__(self, termination: Termination, detail: str) -> None:
        super().__init__(f"{termination}: {detail}")
        self.termination = termination
        self.detail = detail


class SandboxError(Exception):
    """A bot that could not be started in its sandbox: our fault, not the bot's."""


class Stopped(Exception):  # noqa: N818 - not an error
    """A game that was called off from outside."""
