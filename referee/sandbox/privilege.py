"""Who a bot runs as: never root. Each bot started by root gets a user number of its own.

A number of its own means that no other bot may signal it, read its memory or use up its share of processes.
"""

from __future__ import annotations

import itertools
import os
import shutil

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


def drop_line(user: int | None) -> tuple[str, ...]:
    """The program that becomes that user, for good, and execs what follows. Raises OSError where there is none."""
    program = shutil.which("setpriv")
    if program is None:
        raise FileNotFoundError("setpriv is not installed; it comes with util-linux")
    if user is None:
        return (program, "--no-new-privs", "--pdeathsig", "KILL", "--")
    return (
        program,
        *("--reuid", str(user), "--regid", str(user), "--clear-groups"),
        *("--no-new-privs", "--bounding-set", "-all", "--inh-caps", "-all"),
        *("--pdeathsig", "KILL"),
        "--",
    )
