"""Find the sandbox levels that work on this machine, by running each once.

`refusal` decides which levels are strong enough for untrusted programs.
"""

from __future__ import annotations

import functools
import shutil
from dataclasses import dataclass

from referee.sandbox import bwrap, landlock
from referee.sandbox.cgroup import CgroupParent, find_cgroup_parent
from referee.sandbox.level import LEVELS, Sandbox
from referee.sandbox.privilege import is_root, may_read_all
from referee.sandbox.selftest import STRONG, test


@dataclass(frozen=True, slots=True)
class Assessment:
    """Result of trying a sandbox level on this machine. `reason` explains a failure, `fix` says what to do about it."""

    name: str
    works: bool
    reason: str = ""
    fix: str = ""


def open_sandbox(
    name: str = "none", *, uses_groups: bool = True, is_tried: bool = False, is_own: bool = False
) -> Sandbox:
    """Return the sandbox of that name; `auto` is the strongest that works here.

    Raises ValueError, with a remedy, if the sandbox is unknown or does not work.

    `is_tried`: another process has found that the level works, so it is not tried again. `is_own`: the bots belong to
    the person who started this process. If that person is root, the bots still run as other users, but may open every
    file that root may.
    """
    if name == "auto":
        name = next(level for level in LEVELS if assess(level).works)
    elif name not in LEVELS:
        raise ValueError(f"invalid sandbox {name!r}: expected auto, {', '.join(LEVELS)}")
    found = Assessment(name, works=True) if is_tried else assess(name)
    if not found.works:
        raise ValueError(f"sandbox {name} does not work here: {found.reason}; {found.fix}")
    reads_all = is_own and may_read_all()
    place = find_cgroup_parent() if uses_groups and name != "none" else None
    if not isinstance(place, CgroupParent):
        return Sandbox(name, reads_all=reads_all)
    place.tidy()
    return Sandbox(name, place, reads_all)


def refusal(sandbox: Sandbox, allow_weak: bool = False) -> str:
    """Explain why untrusted programs may not run in this sandbox; return an empty text if they may."""
    if sandbox.name == "none" and is_root():
        return "bots would run as root; start the arena as another user, or make a sandbox work (see `arena doctor`)"
    if sandbox.name in STRONG or allow_weak:
        return ""
    return (
        f"the sandbox is {sandbox.name!r}: a bot could read this machine's files and use its network; "
        "run `arena doctor` for how to get a stronger one"
    )


@functools.cache
def assess(name: str) -> Assessment:
    """Try a sandbox level, once per process, and return the result."""
    if name == "none":
        return Assessment(name, works=True)
    missing = _missing(name)
    if missing:
        return Assessment(name, False, *missing)
    reason = test(Sandbox(name))
    return Assessment(name, False, reason, _advice(name, reason)) if reason else Assessment(name, works=True)


def _missing(name: str) -> tuple[str, str] | None:
    """Return the program or kernel feature that a level lacks, and how to get it; None if nothing is missing."""
    if name == "bwrap" and bwrap.program() is None:
        return "bubblewrap is not installed", "apt-get install bubblewrap"
    if name == "landlock" and (reason := landlock.missing()):
        return reason, "use a newer kernel that has Landlock switched on (lsm=…,landlock)"
    if name == "bwrap":  # in other levels the launcher replaces these programs
        for program in ("setpriv", "prlimit"):
            if shutil.which(program) is None:
                return f"{program} is not installed", "apt-get install util-linux"
    return None


def _advice(name: str, reason: str) -> str:
    if reason.startswith("the bot could "):
        return "use a newer kernel, or another sandbox"
    if name != "bwrap":
        return "make this Python readable by every user (not under /root), or use another sandbox"
    if "nknown option" in reason:
        return "install bubblewrap 0.8 or newer"
    if "mount proc" in reason:
        return "run the container with an unmasked /proc (systempaths=unconfined), or run referees outside containers"
    return (
        "allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, "
        "kernel.apparmor_restrict_unprivileged_userns=0); in a container also seccomp=unconfined, "
        "or run referees outside containers"
    )
