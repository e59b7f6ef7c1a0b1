"""The user that a bot runs as: never root. Each bot started by root gets a user id of its own.

Thus no other bot can signal it, read its memory or use up the processes allowed for its user.
"""

from __future__ import annotations

import itertools
import os
import shutil
import stat

from referee.sandbox.launcher import DAC_OVERRIDE

NOBODY = 65_534
_FIRST = 0x7000_0000
"""First of 2**28 user ids that no distribution assigns."""
_PER_PROCESS = 64
"""User ids that one process of the arena gives out in turn: it runs far fewer bots at once."""

_count = itertools.count()


def is_root() -> bool:
    """Return whether this process is root, so that a bot could run as root."""
    return os.geteuid() == 0


def pick_user() -> int | None:
    """Choose the user id of the next bot; None if this process is not root and cannot change users.

    `ARENA_SANDBOX_UID` sets one id for all bots. In a user namespace that maps too few ids, the id is 65534.
    """
    if not is_root():
        return None
    given = os.environ.get("ARENA_SANDBOX_UID")
    if given:
        return int(given)
    # Process ids are below 2**22, so the ids of all processes together are below 2**31.
    own = _FIRST + os.getpid() * _PER_PROCESS + next(_count) % _PER_PROCESS
    return own if _is_mapped(own) else NOBODY


def is_shared(user: int | None) -> bool:
    """Return whether other processes may run as that user: then the kernel's process count is not that of one bot."""
    return user is None or user < _FIRST


def _is_mapped(user: int) -> bool:
    try:
        with open("/proc/self/uid_map", encoding="ascii") as file:
            ranges = [tuple(map(int, line.split())) for line in file]
    except OSError:
        return False
    # In a container the kernel refuses a change to an id outside these ranges.
    return any(first <= user < first + length for first, _, length in ranges)


def may_read_all() -> bool:
    """Return whether this process may let a bot open files regardless of owner and mode: root with CAP_DAC_OVERRIDE."""
    if not is_root():
        return False
    try:
        with open("/proc/self/status", encoding="ascii") as file:
            effective = next(line for line in file if line.startswith("CapEff:"))
    except (OSError, StopIteration):
        return False
    return bool(int(effective.split()[1], 16) >> DAC_OVERRIDE & 1)


def is_passable(path: str) -> bool:
    """Return whether every user may traverse the parent folders of a path; the path itself may be unreadable."""
    return not closed_folder(path)


def closed_folder(path: str) -> str:
    """Return the outermost parent folder of a path that not every user may traverse; empty if there is none."""
    found, folder = "", os.path.abspath(path)
    while (folder := os.path.dirname(folder)) != "/":
        if not os.stat(folder).st_mode & stat.S_IXOTH:
            found = folder
    return found


def drop_line(user: int, *, reads_all: bool = False) -> tuple[str, ...]:
    """Return the command prefix that changes to that user for good, then executes the rest.

    `reads_all`: keep only the capability to open files regardless of owner and mode. Raises OSError without `setpriv`.
    """
    program = shutil.which("setpriv")
    if program is None:
        raise FileNotFoundError("setpriv is not installed; install util-linux")
    # setpriv reads a list of changes: first remove all, then add.
    kept = "-all,+dac_override" if reads_all else "-all"
    return (
        program,
        *("--reuid", str(user), "--regid", str(user), "--clear-groups"),
        *("--no-new-privs", "--bounding-set", kept, "--inh-caps", kept),
        # Only ambient capabilities survive the execution of an ordinary file by a user other than root.
        *(("--ambient-caps", kept) if reads_all else ()),
        *("--pdeathsig", "KILL"),
        "--",
    )
