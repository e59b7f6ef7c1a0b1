"""Kills and reaps every process a bot may have started, also those that fled its process group.

Linux only: a slot declares itself subreaper, so that orphans of its bots become its own children and can be found.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36


def become_subreaper() -> bool:
    """Make orphaned descendants children of this process; False where the kernel offers no such thing."""
    try:
        return bool(ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False


def children() -> set[int]:
    """The process ids of this process's children, all threads' included."""
    found: set[int] = set()
    for task in Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found.update(map(int, task.read_text().split()))
    return found


def sweep(keep: set[int]) -> int:
    """Kill and reap every child not in `keep`, and what they leave behind; the number of strays killed."""
    killed: set[int] = set()
    for _ in range(1000):
        strays = children() - keep
        if not strays:
            break
        for pid in strays:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)
        killed |= strays
    return len(killed)
