"""The second sandbox, for machines without namespaces: Landlock for files, a system call filter for the rest.

A bot reads the same files as under bubblewrap, and can write to four devices only: it has no `/tmp` of its own. It has
no sockets except pairs, and cannot signal or read the processes of other bots.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace

from referee.sandbox import launcher, rlimits
from referee.sandbox.launch import Launch, Request, environment, filtered, supervised
from referee.sandbox.privilege import is_passable, may_read_all, pick_user
from referee.sandbox.seccomp import SyscallFilter
from referee.sandbox.view import make_view

MIN_VERSION = 3
"""Earlier versions allow truncating a file without write access (3 is Linux 6.2)."""
_SCOPED_VERSION = 6
"""First version that restricts signals (Linux 6.12)."""
# Above the largest process id of Linux (2**22), so that it occurs nowhere else in a filter.
_PID_MARK = 0x7FFF_FFF7
_WRITTEN = ("/dev/null", "/dev/full", "/dev/random", "/dev/urandom")
_READ = ("/dev/zero",)
"""Readable devices: if the bot could write to them too, shared mappings would be memory that no process holds."""


def missing() -> str:
    """Explain why this kernel does not support the sandbox; return an empty text if it does."""
    version = launcher.landlock_version()
    if version < MIN_VERSION:
        return f"the kernel has Landlock {version}, but {MIN_VERSION} is required (Linux 6.2)"
    return "" if _filter(version).program() else "no system call filter exists for this machine"


def _filter(version: int) -> SyscallFilter:
    # Before version 6, Landlock does not restrict signals: the filter lets a bot signal only itself, not its children.
    return SyscallFilter(_PID_MARK, allows_signals=version >= _SCOPED_VERSION)


def wrap(request: Request) -> Launch:
    """Compose the command of the launcher, which confines the bot.

    If the bot's user may not enter a folder above the arena's Python or the bot's folder (an arena under `/root`), the
    bot may open every file that Landlock allows, regardless of the file's mode.
    """
    user = pick_user()
    view = make_view(request.command, request.folder)
    version = launcher.landlock_version()
    own = [os.path.abspath(request.folder)] if request.folder else []  # the launcher starts in this folder
    # Python finds its packages by the link of a virtual environment, but runs the file that the link names.
    needed = (sys.executable, os.path.realpath(sys.executable), *own)
    program_filter, recorder = filtered(request, _filter(version), _PID_MARK)
    plan = {
        "version": version,
        "user": user,
        "reads_all": request.reads_all or (may_read_all() and not all(map(is_passable, needed))),
        "is_locked": True,
        "shown": [*view.shown, *_READ, *(place for _, place in view.links), *own],
        "written": _WRITTEN,
        "bounds": rlimits.bounds(request.limits, user, spare=request.spare),
        "filter": program_filter.hex(),
        "pid_mark": _PID_MARK,
    }
    return supervised(replace(request, command=(*recorder, *view.command)), plan, environment())
