"""What can go wrong with a bot: by its own fault, by ours, or by nobody's.

BotError        the bot failed; it loses the game
SandboxError    it could not be put where it was to run: our fault
Stopped         everything is called off from outside
"""

from __future__ import annotations

from referee.rules.core import Termination


class BotError(Exception):
    """A bot failed. `termination` is the verdict, `detail` one sentence with stage, line, exit code."""

    def __init__(self, termination: Termination, detail: str) -> None:
        super().__init__(f"{termination}: {detail}")
        self.termination = termination
        self.detail = detail


class SandboxError(Exception):
    """The bot could not be put into its sandbox: our fault, not the bot's."""


class Stopped(Exception):  # noqa: N818 - nobody erred
    """The game was called off from outside: nobody's fault."""
