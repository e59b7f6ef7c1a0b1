"""Checks of this machine, sandbox, programs, kernels, memory, clock; and the diagnosis that each check returns.

They change nothing: tests run in temporary places and are cleaned up.
"""

from __future__ import annotations

import os
import platform
import select
import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from referee.game.spec import BotLimits
from referee.machine import source
from referee.machine.cores import usable_cores
from referee.machine.warmup import is_cold
from referee.rules import families
from referee.rules.cache import cache_root, is_writable
from referee.sandbox import LEVELS, assess, open_sandbox, refusal
from referee.sandbox.cgroup import CgroupParent, find_cgroup_parent, remedy
from referee.sandbox.kernel_memory import bound_bytes

State = Literal["ok", "weak", "broken"]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The state of one component: `weak` if it works but could be better, `broken` if not. `fix` says what to do."""

    name: str
    state: State
    detail: str
    fix: str = ""


_WAITS = 40


def python() -> Diagnosis:
    version = platform.python_version()
    is_fit = (3, 11) <= sys.version_info < (3, 15)
    return Diagnosis(
        "python", "ok" if is_fit else "broken", f"{version} at {sys.executable}", "" if is_fit else "use 3.11 to 3.14"
    )


def sandbox() -> Diagnosis:
    """Find the strongest sandbox that works."""
    name = open_sandbox("auto").name
    above = [assess(level) for level in LEVELS[: LEVELS.index(name)]]
    below = [level for level in LEVELS[LEVELS.index(name) + 1 :] if assess(level).works]
    why = "".join(f"; not {level.name}: {level.reason}" for level in above)
    also = f"; also {', '.join(below)}" if below else ""
    return Diagnosis("sandbox", "weak" if above else "ok", f"{name}{why}{also}", above[0].fix if above else "")


def uploads() -> Diagnosis:
    """Check whether the sandbox is strong enough for uploaded bots."""
    reason = refusal(open_sandbox("auto"))
    if reason:
        return Diagnosis("uploads", "weak", f"bots of strangers are refused: {reason}", assess("bwrap").fix)
    return Diagnosis("uploads", "ok", "bots of strangers may be run")


def user() -> Diagnosis:
    """Find the user that bots run as."""
    if os.geteuid():
        return Diagnosis("user", "ok", f"user {os.geteuid()}; bots are kept in by namespaces or Landlock")
    return Diagnosis(
        "user",
        "ok" if assess("rlimits").works else "broken",
        "root; every bot becomes a user of its own",
        "" if assess("rlimits").works else "start the arena as another user",
    )


def groups() -> Diagnosis:
    """Check whether control groups can limit the memory of a bot."""
    place = find_cgroup_parent()
    if isinstance(place, CgroupParent):
        controllers = ", ".join(sorted({*place.folders} - {"kill"}))
        return Diagnosis("control groups", "ok", f"version {2 if place.is_unified else 1}: {controllers}")
    return Diagnosis(
        "control groups",
        "weak",
        f"none: {place}; memory and processes are watched instead, and what the kernel holds for a bot counts as its "
        f"memory: between two looks its {BotLimits().processes} processes can take at most "
        f"{bound_bytes(BotLimits()) / 2**30:.1f} GiB of it",
        remedy(),
    )


def programs() -> Iterator[Diagnosis]:
    """Look for optional programs."""
    for name, package, purpose in (
        ("bwrap", "bubblewrap", "the strongest sandbox"),
        ("setpriv", "util-linux", "another user inside of bwrap"),
        ("prlimit", "util-linux", "bounds on every process inside of bwrap"),
        ("cc", "gcc", "compiling the example bots in C"),
    ):
        place = shutil.which(name)
        if place:
            yield Diagnosis(name, "ok", place)
        else:
            yield Diagnosis(name, "weak", f"not there; needed for {purpose}", f"apt-get install {package}")


def rules() -> Diagnosis:
    """Report the digest of rules, referee and protocol, and the versions of numba and numpy."""
    compilers = ", ".join(f"{name} {source.parts()[name]}" for name in ("numba", "numpy"))
    return Diagnosis("rules", "ok", f"{source.digest()}: rules, referee and protocol, with {compilers}")


def kernels() -> Diagnosis:
    """Check the cache of compiled kernels: one that this user may not write is safer, if nothing is left to compile."""
    folder, cold = cache_root(), [name for name in families() if is_cold(name)]
    if not cold:
        return Diagnosis("numba cache", "ok", f"{folder} has the code of all families")
    if is_writable(folder):
        return Diagnosis(
            "numba cache", "weak", f"{folder} lacks the code of {', '.join(cold)}", "`arena warmup --bots`"
        )
    return Diagnosis(
        "numba cache",
        "weak",
        f"{folder} cannot be written, and lacks the code of {', '.join(cold)}: every process compiles it again",
        "run `arena warmup --bots` as the owner of the folder, or set NUMBA_CACHE_DIR to one that no bot may write",
    )


def cores() -> Diagnosis:
    usable, all_of_them = usable_cores(), os.cpu_count() or 1
    detail = f"{usable} of {all_of_them} may be used; that many games at once keep the clocks fair"
    return Diagnosis("cores", "ok" if usable > 1 else "weak", detail, "" if usable > 1 else "one game at a time")


def memory() -> Diagnosis:
    """Compute for how many games at once the memory of this machine is enough."""
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    games = total // (2 * BotLimits().memory_bytes)
    return Diagnosis(
        "memory",
        "ok" if games else "weak",
        f"{total / 2**30:.1f} GiB, enough for {games} games of two bots with {BotLimits().memory_bytes >> 20} MiB each",
        "" if games else "allow bots less memory",
    )


def clock() -> Diagnosis:
    """Measure how late this process wakes up after a wait."""
    poll = select.poll()
    late = []
    for _ in range(_WAITS):
        begin = time.monotonic_ns()
        poll.poll(1)
        late.append((time.monotonic_ns() - begin) / 1e6 - 1)
    worst, usual = max(late), sorted(late)[_WAITS // 2]
    margin = BotLimits().margin_ms
    detail = f"wakes up {usual:.2f} ms late as a rule, {worst:.2f} ms at worst of {_WAITS}; the margin is {margin} ms"
    if worst > margin:
        return Diagnosis("clock", "weak", detail, "fewer games at once, or a larger --margin")
    return Diagnosis("clock", "ok", detail)


def lag_meter() -> Diagnosis:
    """Check whether the time a process waits for a core can be measured."""
    try:
        fields = Path("/proc/thread-self/schedstat").read_text(encoding="ascii").split()
    except OSError:
        return Diagnosis(
            "lag meter",
            "weak",
            "the kernel does not count how long this process waits for a core; only late wake-ups are seen",
            "use a kernel with CONFIG_SCHED_INFO",
        )
    return Diagnosis(
        "lag meter", "ok", f"the kernel counts how long this process waits for a core ({fields[1]} ns so far)"
    )
