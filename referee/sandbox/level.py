"""The levels of the sandbox, strongest first, and how each confines a bot.

Which of them work on this machine is found out by `assessment`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from referee.sandbox import bwrap, landlock, rlimits
from referee.sandbox.cgroup import CgroupParent
from referee.sandbox.launch import ONE_THREAD, Launch, Request, supervised
from referee.spec import Limits

LEVELS = ("bwrap", "landlock", "rlimits", "none")
"""All levels, strongest first."""
_SPARE = 64
"""How many processes a bot's own bound allows beyond its control group's, so that the group is what refuses."""


Wrap = Callable[[Request], Launch]
"""Puts a chain of programs in front of a command. Raises OSError where one of them is not there."""


def _plain(request: Request) -> Launch:
    # The arena's own variables hold passwords and tokens: nothing a bot should be handed.
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
    """A way to run bots. `name` goes into every record; `cgroup_parent` is where control groups for them are made, if any."""

    name: str
    cgroup_parent: CgroupParent | None = field(default=None, compare=False)
    reads_all: bool = False
    """Whether a bot may open every file it is shown, whoever owns it: the files of the person who started the arena."""

    def confine(self, command: Sequence[str], folder: str | None, limits: Limits) -> Launch:
        """The command with everything in front of it, to be run in `folder` (None: this process's). Raises OSError."""
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
