"""What is really run in place of a bot's command: the line, its surroundings, and how to read its exit.

Refuses to start anything.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from referee.rules.cache import cache_root
from referee.sandbox import launcher
from referee.spec import Limits

FILTER = "{filter}"
"""Stands in a line for the number of the descriptor from which the system call filter is read."""


class BotCgroup(Protocol):
    """Where the kernel bounds and counts what one bot uses."""

    def peak_bytes(self) -> int:
        """The most memory that was in use at a time; 0 where the kernel does not say."""

    def excess(self) -> str:
        """`memory` or `processes` when the kernel refused more of it; else empty."""
        ...

    def freeze(self, is_frozen: bool) -> bool:
        """Stop all that is in it, or let it go on; False where that cannot be had."""
        ...

    def close(self) -> None:
        """Kill whatever is in it, and remove it."""
        ...


@dataclass(frozen=True, slots=True)
class Request:
    """What a level of the sandbox is to confine: a command, run in `folder` (None: this process's)."""

    command: Sequence[str]
    folder: str | None
    limits: Limits
    groups: Sequence[str] = ()
    """The files by which it enters its control groups."""
    spare: int = 0
    """How many processes more than its limit it may have, because its groups count them."""
    reads_all: bool = False
    """Whether the bot's user may open whatever it is shown, whoever owns it."""


@dataclass(frozen=True, slots=True)
class Launch:
    """A command with everything in front of it. `environment` and `folder` None mean those of this process."""

    line: tuple[str, ...]
    environment: Mapping[str, str] | None = None
    folder: str | None = None
    filter: bytes = b""
    """A system call filter, handed over on a descriptor of its own (see `FILTER`)."""
    overhead: int = 0
    """How many processes of the tree are the sandbox's own."""
    scratch: tuple[str, ...] = ()
    """Memory disks of the bot's own, as it sees them."""
    reports_signals: bool = False
    """Whether an exit code of 128 + n says that the bot was killed by signal n."""
    is_supervised: bool = False
    """Whether the process that is started only supervises the bot: what it uses itself is not the bot's."""
    cgroup: BotCgroup | None = None


def supervised(request: Request, plan: Mapping[str, Any], environment: Mapping[str, str]) -> Launch:
    """Return the launch of a command under a supervisor, which confines it as the plan of `launcher` says."""
    script = str(Path(launcher.__file__).resolve())
    words = json.dumps({"referee": os.getpid(), "groups": request.groups, **plan})
    line = (sys.executable, "-I", "-S", "-B", script, words, *request.command)
    return Launch(line, environment=environment, folder=request.folder, is_supervised=True)


ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
"""Else numpy starts a thread for every core of the machine, on some more than a bot may have."""
_KERNELS = ("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES", "NUMBA_DISABLE_JIT")
"""Whether kernels are compiled, and for which processor where it is not this one: those for another are not found."""


def environment() -> dict[str, str]:
    """All that a sandboxed bot gets to know of this process's environment: nothing but where programs and kernels are.

    The folder of this Python comes first, so that a bot written in Python finds the arena's packages.
    """
    return {
        "PATH": os.pathsep.join((os.path.dirname(sys.executable), "/usr/local/bin", "/usr/bin", "/bin")),
        "HOME": "/tmp",  # noqa: S108 - under bubblewrap it is the bot's own
        "TMPDIR": "/tmp",  # noqa: S108
        "LANG": "C.UTF-8",
        "NUMBA_CACHE_DIR": str(cache_root()),
        "PYTHONDONTWRITEBYTECODE": "1",
        **{name: os.environ[name] for name in _KERNELS if name in os.environ},
        **ONE_THREAD,
    }
