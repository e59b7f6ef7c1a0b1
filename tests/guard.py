"""A process that ends whatever a test run has started once the run is gone, even if it was killed.

    guard.py PID MARK

Waits for the end of process PID, then ends every process whose environment has MARK (`NAME=VALUE`): what a test starts
inherits it, also what has fled its process group and its parents.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time
from pathlib import Path

NAME = "BOT_ARENA_TEST_RUN"
"""Not one of `ARENA_`: those are settings, which some programs do not pass on."""
END_S = 5.0
"""How long processes may take to end when told to; then they are killed."""


def mark() -> dict[str, str]:
    """Return what the environment of a process must have that is started without the environment of this one."""
    return {NAME: os.environ[NAME]} if NAME in os.environ else {}


def marked(text: str) -> set[int]:
    """Return the processes, without this one, whose environment has a text."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if text.encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.add(int(folder.name))
    return found - {os.getpid()}


def end(text: str) -> None:
    """Tell the marked processes to end, kill those that do not."""
    deadline = time.monotonic() + END_S
    number = signal.SIGTERM
    told: set[int] = set()
    while left := marked(text):
        if time.monotonic() > deadline:
            number, told = signal.SIGKILL, set()
        for pid in left - told:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
        told |= left
        time.sleep(0.05)
        if time.monotonic() > 2 * END_S + deadline:
            return


def main() -> None:
    """Leave the family of the test run, wait for its end, then end what is left."""
    pid, text = int(sys.argv[1]), sys.argv[2]
    try:
        run = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    if os.fork():
        os._exit(0)
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(nothing, descriptor)
    select.select([run], [], [])
    end(text)


if __name__ == "__main__":
    main()
