"""Turns a bot's command into the command that is really run: a chain of small programs, each execing the next.

No `preexec_fn`: it would force a slow fork of a big parent. Refuses to know the protocol and the game.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from referee.sandbox.launch import FILTER, Cell, Launch, death_with_parent
from referee.spec import Limits


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A way to run bots. `name` goes into every record."""

    name: str

    def confine(self, command: Sequence[str], folder: str | None, limits: Limits) -> Launch:
        """The command with everything in front of it, to be run in `folder` (None: this process's)."""
        return Launch((*death_with_parent(), *command), folder=folder)


def open_sandbox(name: str = "none") -> Sandbox:
    """The sandbox of that name. Raises ValueError for one this system does not offer."""
    if name in ("none", "auto"):
        return Sandbox("none")
    raise ValueError(f"sandbox {name!r} is not available here; use auto or none")


__all__ = ["FILTER", "Cell", "Launch", "Sandbox", "open_sandbox"]
