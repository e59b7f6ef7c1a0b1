"""Who a bot runs as: never root. Each bot started by root gets a user number of its own.

A number of its own means that no other bot may signal it, read its memory or use up its share of processes.
"""

from __future__ import annotations

import itertools
import os
import shutil
import stat

from referee.sandbox.launcher import DAC_OVERRIDE

NOBODY = 65_534
_FIRST = 0x7000_0000
"""The first of 2**28 user numbers that no distribution gives to anybody."""
_PER_PROCESS = 64

_count = itertools.count()


def is_root() -> bool:
    """Whether this process could run a bot as root."""
    return os.geteuid() == 0


def pick_user() -> int | None:
    """The user number for the next bot; None when this process is not root and has nobody to become.

    `ARENA_SANDBOX_UID` names one for all bots. In a user namespace that maps few numbers it is `nobody`.
    """
    if not is_root():
        return None
    given = os.environ.get("ARENA_SANDBOX_UID")
    if given:
        return int(given)
    own = _FIRST + os.getpid() * _PER_PROCESS + next(_count) % _PER_PROCESS
    return own if _is_mapped(own) else NOBODY


def is_shared(user: int | None) -> bool:
    """Whether other processes may run as that user, so that the kernel's count of its processes says little."""
    return user is None or user < _FIRST


def _is_mapped(user: int) -> bool:
    try:
        with open("/proc/self/uid_map", encoding="ascii") as file:
            ranges = [tuple(map(int, line.split())) for line in file]
    except OSError:
        return False
    return any(first <= user < first + length for first, _, length in ranges)


def may_read_all() -> bool:
    """Whether this process may hand a bot the right to open files whatever their owner and mode (Docker's root may)."""
    if not is_root():
        return False
    try:
        with open("/proc/self/status", encoding="ascii") as file:
            effective = next(line for line in file if line.startswith("CapEff:"))
    except (OSError, StopIteration):
        return False
    return bool(int(effective.split()[1], 16) >> DAC_OVERRIDE & 1)


def is_passable(path: str) -> bool:
    """Whether every user may go through the folders above a path, not whether they may read the path itself."""
    folder = os.path.abspath(path)
    while (folder := os.path.dirname(folder)) != "/":
        if not os.stat(folder).st_mode & stat.S_IXOTH:
            return False
    return True


def drop_line(user: int | None, *, reads_all: bool = False) -> tuple[str, ...]:
    """The program that becomes that user, for good, and execs what follows. Raises OSError where there is none.

    `reads_all`: with the one capability that opens files whatever their owner and mode.
    """
    program = shutil.which("setpriv")
    if program is None:
        raise FileNotFoundError("setpriv is not installed; it comes with util-linux")
    if user is None:
        return (program, "--no-new-privs", "--pdeathsig", "KILL", "--")
    kept = "-all,+dac_override" if reads_all else "-all"
    return (
        program,
        *("--reuid", str(user), "--regid", str(user), "--clear-groups"),
        *(
            "--no-new-privs",
            "--bounding-set",
            kept,
            "--inh-caps",
            kept,
            *(("--ambient-caps", kept) if reads_all else ()),
        ),
        *("--pdeathsig", "KILL"),
        "--",
    )
