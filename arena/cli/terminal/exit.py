"""The exception that ends a command with a message and an exit code.

The codes, and the code of each error of the arena, are defined in `arena.errors`.
"""

from __future__ import annotations

from referee.errors import Exit


class CommandError(Exception):
    """Ends the command with an exit code. The message says what is wrong, where, and what to do."""

    def __init__(self, message: str, code: Exit = Exit.USAGE) -> None:
        self.code = code
        super().__init__(message)


__all__ = ["CommandError", "Exit"]
