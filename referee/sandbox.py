"""Turns a bot's command into the command that is really run: a chain of small programs, each execing the next.

No `preexec_fn`: it would force a slow fork of a big parent. Refuses to know the protocol and the game.
"""

from __future__ import annotations

import functools
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from referee.spec import Limits


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A way to run bots. `name` goes into every record; `prefix` is put before the command."""

    name: str
    prefix: tuple[str, ...] = ()

    def wrap(self, command: Sequence[str], limits: Limits) -> tuple[str, ...]:
        """The command with everything in front of it."""
        return (*_death_with_parent(), *self.prefix, *command)


@functools.cache
def _death_with_parent() -> tuple[str, ...]:
    """`setpriv --pdeathsig`: the bot dies with the process that plays it, even when that is killed by SIGKILL."""
    found = shutil.which("setpriv")
    if not found:
        return ()
    line = (found, "--pdeathsig", "KILL", "--")
    return line if subprocess.run([*line, "true"], capture_output=True, check=False).returncode == 0 else ()


def open_sandbox(name: str = "none") -> Sandbox:
    """The sandbox of that name. Raises ValueError for one this system does not offer."""
    if name in ("none", "auto"):
        return Sandbox("none")
    raise ValueError(f"sandbox {name!r} is not available here; use auto or none")
