"""Sandbox levels, strongest first, and the command prefix of each. `assessment` finds the levels that work."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from referee.game.spec import BotLimits
from referee.sandbox import bwrap, landlock, rlimits
from referee.sandbox.cgroup import CgroupParent
from referee.sandbox.launch import ONE_THREAD, Launch, Request, supervised

LEVELS = ("bwrap", "landlock", "rlimits", "none")
"""All levels, strongest first."""
_SPARE = 64
"""Number of processes by which the resource limit exceeds the control group's limit, so that the group enforces it."""


Wrap = Callable[[Request], Launch]
"""Function that prefixes a command with a chain of programs. Raises OSError if one of them is not installed."""


def _plain(request: Request) -> Launch:
    # The arena's own variables contain passwords and tokens, which a bot must not get.
    known = {name: value for name, value in os.environ.items() if not name.startswith("ARENA_")}
    return supervised(request, {}, {**ONE_THREAD, **known})


_WRAPS: dict[str, Wrap] = {
    "bwrap": bwrap.wrap,
    "landlock": landlock.wrap,
    "rlimits": rlimits.wrap,
    "none": _plain,
}


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A sandbox for bots. Game records contain its `name`; control groups are created under `cgroup_parent`, if any."""

    name: str
    cgroup_parent: CgroupParent | None = field(default=None, compare=False)
    reads_all: bool = False
    """True if a bot may open every file it can see, regardless of the owner: files of the person who started the arena.
    """

    def confine(self, command: Sequence[str], folder: str | None, limits: BotLimits) -> Launch:
        """Return the command with its sandbox prefix, to run in `folder` (None: the current folder). Raises OSError."""
        wrap = _WRAPS[self.name]
        request = Request(command, folder, limits, reads_all=self.reads_all)
        if self.cgroup_parent is None or self.name == "none":
            return wrap(request)
        group = self.cgroup_parent.make(limits, bwrap.OVERHEAD if self.name == "bwrap" else 0)
        try:
            launch = wrap(replace(request, groups=group.files, spare=_SPARE))
        except OSError:
            group.close()
            raise
        return replace(launch, cgroup=group)
