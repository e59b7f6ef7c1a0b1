"""Starts helper processes: modules of this program that work for the process that started them, their parent.

Each helper has a process group of its own, so that Ctrl-C in a terminal reaches only the parent. Its standard error is
the parent's, unless a pipe is requested. However the parent ends, the helper ends within moments.
"""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import TypeAlias

from referee.sandbox.reaper import wake_at_death_of_parent

Popen: TypeAlias = subprocess.Popen[bytes]
PIPE, NOTHING = subprocess.PIPE, subprocess.DEVNULL
# `python -m` would run the module as `__main__`, but pickled jobs refer to functions by their module's own name.
_ENTER = "from referee.machine.helper import enter; enter()"
_CLEAN_S = 5
"""Seconds that a helper whose parent is gone may take to end its own children and leave."""


def start(
    module: str,
    *words: object,
    stdin: int = NOTHING,
    stdout: int | None = None,
    stderr: int | None = None,
    pass_fds: Sequence[int] = (),
    has_session: bool = False,
) -> Popen:
    """Start a process that calls `main` of a module, as `python -m MODULE WORDS…` would. Raises OSError.

    The working folder is not on its import path: a file there such as `random.py` would replace the module `random`.
    With a session of its own the kernel gives it as much processor time as all other helpers together: sched(7).
    """
    line = [sys.executable, "-P", "-c", _ENTER, str(os.getpid()), module, *map(str, words)]
    group = None if has_session else 0
    return subprocess.Popen(
        line,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        pass_fds=pass_fds,
        process_group=group,
        start_new_session=has_session,
    )


def enter() -> None:
    """Run the module that the command line names, until it ends or the parent does."""
    parent = int(sys.argv.pop(1))
    end_with(parent)
    del sys.argv[0]
    sys.exit(importlib.import_module(sys.argv[0]).main())


def end_with(parent: int) -> None:
    """Exit as soon as the parent is gone, whatever this process is doing then, even if a signal has suspended it."""

    def look(*_: object) -> None:
        if os.getppid() != parent:
            signal.alarm(_CLEAN_S)  # kills this process if its exit is blocked
            raise SystemExit(1)

    signal.signal(signal.SIGCONT, look)
    wake_at_death_of_parent()
    look()  # the parent may have ended before


def leave() -> None:
    """Ignore the parent's death from now on: this process is exiting already."""
    signal.signal(signal.SIGCONT, signal.SIG_DFL)
