"""The levels of the sandbox, strongest first, and how each puts a bot behind bars.

Refuses to know which of them work on this machine, and who is to be trusted with which.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from referee.sandbox import bwrap, landlock, rlimits
from referee.sandbox.cgroup import Place
from referee.sandbox.launch import ONE_THREAD, Launch, death_with_parent
from referee.spec import Limits

LEVELS = ("bwrap", "landlock", "rlimits", "none")
"""All levels, strongest first."""
_SPARE = 64
"""How many processes a bot's own bound allows beyond its control group's, so that the group is what refuses."""


class Wrap(Protocol):
    """Puts a chain of programs in front of a command that is to be run in a folder (None: this process's)."""

    def __call__(self, command: Sequence[str], folder: str | None, limits: Limits, spare: int = 0) -> Launch: ...


def _plain(command: Sequence[str], folder: str | None, limits: Limits, spare: int = 0) -> Launch:
    # The arena's own variables hold passwords and tokens: nothing a bot should be handed.
    known = {name: value for name, value in os.environ.items() if not name.startswith("ARENA_")}
    return Launch((*death_with_parent(), *command), environment={**ONE_THREAD, **known}, folder=folder)


_WRAPS: dict[str, Wrap] = {
    "bwrap": bwrap.wrap,
    "landlock": landlock.wrap,
    "rlimits": rlimits.wrap,
    "none": _plain,
}


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A way to run bots. `name` goes into every record; `place` is where control groups for them are made, if any."""

    name: str
    place: Place | None = field(default=None, compare=False)

    def confine(self, command: Sequence[str], folder: str | None, limits: Limits) -> Launch:
        """The command with everything in front of it, to be run in `folder` (None: this process's). Raises OSError."""
        wrap = _WRAPS[self.name]
        if self.place is None or self.name == "none":
            return wrap(command, folder, limits)
        launch = wrap(command, folder, limits, _SPARE)
        group = self.place.make(limits, launch.overhead)
        return replace(launch, line=(*group.join_line(), *launch.line), cell=group)
