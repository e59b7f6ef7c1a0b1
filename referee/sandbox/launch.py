"""The start of a bot in its sandbox: command line, environment, and how to read its exit code."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from referee.game.spec import BotLimits
from referee.rules.cache import cache_root
from referee.sandbox import launcher
from referee.sandbox.seccomp import SyscallFilter
from referee.sandbox.syscalls import call_names

FILTER = "{filter}"
"""Placeholder in a command line for the descriptor from which the system call filter is read."""


class BotCgroup(Protocol):
    """The control group of one bot, in which the kernel limits and measures the bot."""

    def peak_bytes(self) -> int:
        """Return the peak memory use of the bot; 0 if the kernel does not report it."""

    def excess(self) -> str:
        """Return `memory` or `processes` if the kernel had to enforce that limit; else an empty text."""
        ...

    def freeze(self, is_frozen: bool) -> bool:
        """Suspend or resume all processes of the group; return False if the kernel cannot."""
        ...

    def close(self) -> None:
        """Kill all processes of the group and remove it."""
        ...


@dataclass(frozen=True, slots=True)
class Request:
    """A command to confine, run in `folder` (None: the current folder)."""

    command: Sequence[str]
    folder: str | None
    limits: BotLimits
    groups: Sequence[str] = ()
    """Files by which the bot enters its control groups."""
    spare: int = 0
    """Number of processes that resource limits allow beyond the limit, if a control group enforces the limit."""
    reads_all: bool = False
    """True if the bot's user may open every file it can see, regardless of the owner."""
    has_network: bool = False
    """True if the bot's programs may connect to each other by TCP."""
    is_recorded: bool = False
    """True if the bot's standard error shall name the system calls that the filter refused."""


@dataclass(frozen=True, slots=True)
class Launch:
    """A command with its sandbox prefix. `environment` and `folder` None mean those of this process."""

    line: tuple[str, ...]
    environment: Mapping[str, str] | None = None
    folder: str | None = None
    filter: bytes = b""
    """System call filter, passed on a descriptor of its own (see `FILTER`)."""
    overhead: int = 0
    """Number of started processes that belong to the sandbox itself."""
    scratch: tuple[str, ...] = ()
    """Memory file systems of the bot, by their paths inside the sandbox."""
    reports_signals: bool = False
    """True if an exit code of 128 + n means that signal n killed the bot."""
    is_supervised: bool = False
    """True if the started process only supervises the bot: the resources that it uses do not count as the bot's."""
    cgroup: BotCgroup | None = None


def filtered(request: Request, chosen: SyscallFilter, pid_mark: int = 0) -> tuple[bytes, tuple[str, ...]]:
    """Return the filter that the sandbox must load, and the prefix of the command inside the sandbox.

    For a recorded bot the sandbox loads none: the recorder inside, which runs the bot, does.
    """
    if not request.is_recorded:
        return chosen.program(), ()
    known, absent = call_names()
    words = {"filter": chosen.reporting_program().hex(), "pid_mark": pid_mark, "known": known, "absent": absent}
    return b"", (*_LAUNCHER, "--record", json.dumps(words))


# -I and -S: no variable, package or working folder can change what this program imports; -B: it writes no bytecode.
_LAUNCHER = (sys.executable, "-I", "-S", "-B", str(Path(launcher.__file__).resolve()))


def supervised(request: Request, plan: Mapping[str, Any], environment: Mapping[str, str]) -> Launch:
    """Return the `Launch` of a command under the supervisor `launcher.py`, which confines it as `plan` says."""
    words = json.dumps({"referee": os.getpid(), "groups": request.groups, **plan})
    line = (*_LAUNCHER, words, *request.command)
    return Launch(line, environment=environment, folder=request.folder, is_supervised=True)


ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
"""Environment for one numpy thread: by default numpy starts one per core, on some machines more than a bot may have."""
_KERNELS = ("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES", "NUMBA_DISABLE_JIT")
"""Variables that decide whether and for which processor kernels are compiled: without the arena's values a bot would
find no kernels in the cache.
"""


def search_path(*folders: str) -> str:
    """Return the PATH of a bot: the folder of this Python first, so that a bot in Python finds the arena's packages."""
    return os.pathsep.join((os.path.dirname(sys.executable), *folders))


def environment() -> dict[str, str]:
    """Build the environment of a sandboxed bot: of the arena's variables it has only those about compiled kernels."""
    return {
        "PATH": search_path("/usr/local/bin", "/usr/bin", "/bin"),
        "HOME": "/tmp",  # noqa: S108 - private to the bot under bubblewrap
        "TMPDIR": "/tmp",  # noqa: S108
        "LANG": "C.UTF-8",
        "NUMBA_CACHE_DIR": str(cache_root()),
        "PYTHONDONTWRITEBYTECODE": "1",
        **{name: os.environ[name] for name in _KERNELS if name in os.environ},
        **ONE_THREAD,
        # Else the runtime of .NET makes named pipes for a debugger, or does not start. Two names: before 6, and since.
        "COMPlus_EnableDiagnostics": "0",
        "DOTNET_EnableDiagnostics": "0",
    }
