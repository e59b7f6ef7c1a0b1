"""The second sandbox, where namespaces may not be made: Landlock for files, a system call filter for the rest.

A bot sees the same files as under bubblewrap, may write to none, has no sockets at all, and cannot signal or read
anybody else's process.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace

from referee.sandbox import launcher, rlimits
from referee.sandbox.launch import Launch, Request, environment, supervised
from referee.sandbox.privilege import is_passable, may_read_all, pick_user
from referee.sandbox.seccomp import SyscallFilter
from referee.sandbox.view import make_view

MIN_VERSION = 3
"""Before it, files could be emptied without being written to (Linux 6.2)."""
_SCOPED_VERSION = 6
"""Since it, signals are Landlock's business too (Linux 6.12)."""
_PID_MARK = 0x7FFF_FFF7
_WRITTEN = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


def missing() -> str:
    """Why this kernel cannot do it, in words; empty when it can."""
    version = launcher.landlock_version()
    if version < MIN_VERSION:
        return f"the kernel offers Landlock {version}, {MIN_VERSION} is needed (Linux 6.2)"
    return "" if _filter(version).program() else "no system call filter for this machine"


def _filter(version: int) -> SyscallFilter:
    # Before it, a bot can signal nobody but itself, its own children neither.
    return SyscallFilter(_PID_MARK, allows_signals=version >= _SCOPED_VERSION)


def wrap(request: Request) -> Launch:
    """Have the launcher confine the bot. Where its Python or its folder is behind a folder that is closed to its user
    (an arena under `/root`), it may open all it is shown: Landlock alone says then what that is.
    """
    user = pick_user()
    view = make_view(request.command, request.folder)
    version = launcher.landlock_version()
    own = [os.path.abspath(request.folder)] if request.folder else []  # the launcher starts in the folder itself
    needed = (sys.executable, os.path.realpath(sys.executable), *own)
    plan = {
        "version": version,
        "user": user,
        "reads_all": request.reads_all or (may_read_all() and not all(map(is_passable, needed))),
        "is_locked": True,
        "shown": [*view.shown, *(place for _, place in view.links), *own],
        "written": _WRITTEN,
        "bounds": rlimits.bounds(request.limits, user, spare=request.spare),
        "filter": _filter(version).program().hex(),
        "pid_mark": _PID_MARK,
    }
    return supervised(replace(request, command=view.command), plan, environment())
