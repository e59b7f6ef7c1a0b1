"""What one process of a bot may use, as the kernel bounds it for each process: the weakest bounds, and always there.

Also the sandbox that has nothing else: another user and these bounds.
"""

from __future__ import annotations

import shutil

from referee.game.spec import BotLimits
from referee.sandbox.launch import Launch, Request, environment, supervised
from referee.sandbox.privilege import is_shared, pick_user

FILE_BYTES = 64 * 2**20
"""The largest file a bot may write."""
OPEN_FILES = 256
PENDING_SIGNALS = 1024
"""Of one user; timers count as such."""
CPU_S = 24 * 3600
"""A process that is used again and again is not ended for that; one that was forgotten is."""
_CROWD = 16
"""How many bots' processes are counted together where they run as one user."""


def bounds(limits: BotLimits, user: int | None, *, has_namespace: bool = False, spare: int = 0) -> dict[str, int]:
    """The bounds by the kernel's names for them. `spare` processes more are allowed where somebody else counts them.

    The data segment may grow to twice the memory allowed: whoever watches the memory, control group or watchdog, is to
    notice first, so that the verdict names the limit. The address space is not bounded: node and java would not start.
    Nor are processes of a user who runs more than bots: the kernel would count all of them.
    """
    found = {"FSIZE": FILE_BYTES, "NOFILE": OPEN_FILES, "CPU": CPU_S, "CORE": 0, "MSGQUEUE": 0}
    # The user's own rights to go before everybody else are not the bot's.
    found |= {"RTPRIO": 0, "NICE": 0, "SIGPENDING": PENDING_SIGNALS}
    if limits.memory_bytes:
        found["DATA"] = 2 * limits.memory_bytes
    if limits.processes and (has_namespace or user is not None):
        found["NPROC"] = limits.processes + spare
        if is_shared(user) and not has_namespace:
            found["NPROC"] *= _CROWD
    return found


def limit_line(limits: BotLimits, user: int | None, *, has_namespace: bool = False, spare: int = 0) -> tuple[str, ...]:
    """The program that sets the bounds and execs what follows. Raises OSError where there is none."""
    program = shutil.which("prlimit")
    if program is None:
        raise FileNotFoundError("prlimit is not installed; it comes with util-linux")
    found = bounds(limits, user, has_namespace=has_namespace, spare=spare)
    return (program, *(f"--{name.lower()}={bound}" for name, bound in found.items()), "--")


def wrap(request: Request) -> Launch:
    """Another user, if there is one to become, and bounds on every process; nothing is hidden from the bot."""
    user = pick_user()
    plan = {
        "user": user,
        "reads_all": request.reads_all,
        "is_locked": True,
        "bounds": bounds(request.limits, user, spare=request.spare),
    }
    return supervised(request, plan, environment())
