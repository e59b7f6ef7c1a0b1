"""Resource limits that the kernel enforces per process: the weakest limits, but available everywhere.

The sandbox level `rlimits` is here too: another user, these limits and the system call filter.
"""

from __future__ import annotations

import shutil
from dataclasses import replace

from referee.game.spec import BotLimits
from referee.sandbox.launch import Launch, Request, environment, filtered, supervised
from referee.sandbox.privilege import is_shared, pick_user
from referee.sandbox.seccomp import SyscallFilter

FILE_BYTES = 64 * 2**20
"""Maximum size of a file written by a bot."""
OPEN_FILES = 256
"""Open files of a process: each may hold a buffer of kernel memory (`kernel_memory.descriptor_bytes`)."""
PENDING_SIGNALS = 1024
"""Number of pending signals of a user, among which the kernel counts timers."""
CPU_S = 24 * 3600
"""Processor time after which the kernel ends a forgotten process; enough for one that plays many games."""
_CROWD = 16
"""Number of bots whose processes the kernel counts together when they run as one user."""


def bounds(limits: BotLimits, user: int | None, *, has_namespace: bool = False, spare: int = 0) -> dict[str, int]:
    """Return the resource limits by their kernel names; `spare` is added to the number of processes.

    The data segment may grow to twice the allowed memory. The control group or the watchdog then notices first, so that
    the termination of the game names the limit. The address space is not limited, because node and java would not
    start. The kernel counts all processes of a user. Therefore the limit on processes is multiplied if other bots may
    run as the bot's user, and not set if the bot runs as the user of this process without a user namespace of its own.
    """
    # A core file would write all memory of a crashed bot to the disk; message queues are memory of the kernel.
    kernel_limits = {"FSIZE": FILE_BYTES, "NOFILE": OPEN_FILES, "CPU": CPU_S, "CORE": 0, "MSGQUEUE": 0}
    # The bot must not get the right to higher priorities that its user may have.
    kernel_limits |= {"RTPRIO": 0, "NICE": 0, "SIGPENDING": PENDING_SIGNALS}
    if limits.memory_bytes:
        kernel_limits["DATA"] = 2 * limits.memory_bytes
    if limits.processes and (has_namespace or user is not None):
        kernel_limits["NPROC"] = limits.processes + spare
        if is_shared(user) and not has_namespace:
            kernel_limits["NPROC"] *= _CROWD
    return kernel_limits


def limit_line(limits: BotLimits, user: int | None, *, has_namespace: bool = False, spare: int = 0) -> tuple[str, ...]:
    """Return the command prefix that sets the limits, then executes the rest.

    Raises OSError if `prlimit` is not installed.
    """
    program = shutil.which("prlimit")
    if program is None:
        raise FileNotFoundError("prlimit is not installed; install util-linux")
    kernel_limits = bounds(limits, user, has_namespace=has_namespace, spare=spare)
    return (program, *(f"--{name.lower()}={bound}" for name, bound in kernel_limits.items()), "--")


def wrap(request: Request) -> Launch:
    """Prefix the command with a change of user, if possible, and resource limits; no file is hidden from the bot."""
    user = pick_user()
    program_filter, recorder = filtered(request, SyscallFilter(has_network=request.has_network))
    plan = {
        "user": user,
        "reads_all": request.reads_all,
        "is_locked": True,
        "filter": program_filter.hex(),
        "bounds": bounds(request.limits, user, spare=request.spare),
    }
    return supervised(replace(request, command=(*recorder, *request.command)), plan, environment())
