"""Control groups, version 2 or 1: a bot gets a group of its own, whose total memory and processes the kernel limits.

Control groups need only writable folders: no daemon, no library.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from referee.game.spec import BotLimits
from referee.sandbox.reaper import descendants

PREFIX = "arena-bot"
_REFEREE = "arena-referee"
_NEEDED = ("memory", "pids")
_CLOSE_TIMEOUT_S = 1.0
_CONNECTIONS_SHARE = 4
"""Memory limit divided by the limit of the memory of connections. Version 1 counts that separately, so connections can
add a quarter to a bot's memory.
"""
_count = itertools.count()
_left: set[str] = set()
"""Groups whose processes had not died before the timeout; they are removed when the next group is created."""

_JOIN = 'while [ "$1" != -- ]; do echo $$ > "$1" || exit 125; shift; done; shift; exec "$@"'
"""Shell script that enters each group, then becomes the command; it exits like the launcher if it cannot enter one."""


@dataclass(frozen=True, slots=True)
class Cgroup:
    """Control group of one bot: the group's folder in each hierarchy."""

    folders: Mapping[str, str]
    """Folders by controller: `memory`, `pids`, `cpu`, all the same in version 2. `kill`: with version 1, a group of
    version 2, if mounted, whose processes can be killed and frozen together.
    """

    @property
    def files(self) -> tuple[str, ...]:
        """Files to which a process writes 0 to enter the group."""
        return tuple(os.path.join(folder, "cgroup.procs") for folder in dict.fromkeys(self.folders.values()))

    def excess(self) -> str:
        """Return `memory` or `processes` if the kernel had to enforce that limit; else an empty text."""
        folder = self.folders["memory"]
        events = {**_table(folder, "memory.events"), **_table(folder, "memory.oom_control")}
        # Version 1 counts only processes killed at the limit; version 2 also allocations that failed there.
        if events.get("oom_kill") or events.get("oom"):
            return "memory"
        # `max` counts the forks that the limit refused: the kernel kills nothing for them.
        return "processes" if _table(self.folders["pids"], "pids.events").get("max") else ""

    def peak_bytes(self) -> int:
        """Return the peak memory use of the group; 0 if the kernel does not report it."""
        for name in ("memory.peak", "memory.max_usage_in_bytes"):
            with (
                contextlib.suppress(OSError, ValueError),
                open(os.path.join(self.folders["memory"], name), "rb") as file,
            ):
                return int(file.read())
        return 0

    def freeze(self, is_frozen: bool) -> bool:
        """Suspend or resume all processes of the group; return False if the kernel cannot (version 1)."""
        try:
            _write(self.folders.get("kill", self.folders["pids"]), "cgroup.freeze", "1" if is_frozen else "0")
        except OSError:
            return False
        return True

    def close(self) -> None:
        """Kill all processes of the group and remove it."""
        deadline = time.monotonic() + _CLOSE_TIMEOUT_S
        self._kill()
        for folder in dict.fromkeys(self.folders.values()):
            while True:
                try:
                    os.rmdir(folder)
                except FileNotFoundError:
                    break
                except OSError:  # a process has not died yet
                    if time.monotonic() > deadline:
                        _left.add(folder)
                        break
                    self._kill()
                    time.sleep(0.0005)
                else:
                    break

    def _kill(self) -> None:
        with contextlib.suppress(OSError):
            # Linux 5.14 and newer kill a whole group at one moment. Without that, a process may fork while the list is
            # read.
            _write(self.folders.get("kill", self.folders["pids"]), "cgroup.kill", "1")
            return
        with contextlib.suppress(OSError), open(os.path.join(self.folders["pids"], "cgroup.procs"), "rb") as file:
            for pid in file.read().split():
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(int(pid), signal.SIGKILL)


@dataclass(frozen=True, slots=True)
class CgroupParent:
    """Folders under which this process can create groups, by controller, and whether they are of version 2."""

    folders: Mapping[str, str]
    is_unified: bool

    def make(self, limits: BotLimits, overhead: int) -> Cgroup:
        """Create a group with these limits. Raises OSError."""
        _remove_left()
        name = f"{PREFIX}-{os.getpid()}-{next(_count)}"
        group = Cgroup({controller: os.path.join(folder, name) for controller, folder in self.folders.items()})
        try:
            for folder in dict.fromkeys(group.folders.values()):
                os.mkdir(folder)
            if limits.memory_bytes:
                self._bound_memory(group.folders["memory"], str(limits.memory_bytes))
            if limits.processes:
                _write(group.folders["pids"], "pids.max", str(limits.processes + overhead))
            self._hand_on_niceness(group.folders.get("cpu", group.folders["pids"]))
        except OSError:
            group.close()
            raise
        return group

    def _hand_on_niceness(self, folder: str) -> None:
        """Weigh the group by the niceness of this thread: between groups the kernel ignores that of their processes."""
        if niceness := os.getpriority(os.PRIO_PROCESS, 0):  # Linux answers for the calling thread: setpriority(2)
            # A step of niceness is a factor of 1.25: sched(7).
            weight = ("cpu.weight.nice", niceness) if self.is_unified else ("cpu.shares", round(1024 / 1.25**niceness))
            with contextlib.suppress(OSError):  # not every system delegates the processor
                _write(folder, weight[0], str(weight[1]))

    def _bound_memory(self, folder: str, bound: str) -> None:
        if self.is_unified:
            _write(folder, "memory.max", bound)
            # Without memory.oom.group the kernel would kill only one process of a bot that reached the limit.
            # Swap would be memory in addition to the limit. A kernel without swap accounting lacks the file.
            for name, text in (("memory.swap.max", "0"), ("memory.oom.group", "1")):
                with contextlib.suppress(OSError):
                    _write(folder, name, text)
        else:
            _write(folder, "memory.limit_in_bytes", bound)
            with contextlib.suppress(OSError):
                # Set second, because the kernel refuses a limit of memory and swap below that of memory.
                _write(folder, "memory.memsw.limit_in_bytes", bound)
            with contextlib.suppress(OSError):
                # Version 1 counts the memory of connections separately; at the limit it refuses more and kills nothing.
                _write(folder, "memory.kmem.tcp.limit_in_bytes", str(int(bound) // _CONNECTIONS_SHARE))

    def tidy(self) -> None:
        """Remove the groups that were created by processes which died without removing them."""
        for folder in dict.fromkeys(self.folders.values()):
            for name in _names(folder):
                owner = name.removeprefix(f"{PREFIX}-").partition("-")[0]
                # The name holds the id of the process that created the group. If that id is in use again, the group
                # stays for later.
                if name.startswith(f"{PREFIX}-") and not os.path.exists(f"/proc/{owner}"):
                    with contextlib.suppress(OSError):
                        os.rmdir(os.path.join(folder, name))


def join_line(files: Sequence[str]) -> tuple[str, ...]:
    """Return the command prefix that enters the groups of these files, then executes the rest; empty without files."""
    # A process enters by itself: moved from outside, it could already have forked.
    return ("/bin/sh", "-c", _JOIN, "sh", *files, "--") if files else ()


def _remove_left() -> None:
    for folder in list(_left):
        with contextlib.suppress(OSError):
            os.rmdir(folder)
        if not os.path.exists(folder):
            _left.discard(folder)


def find_cgroup_parent() -> CgroupParent | str:
    """Find the folders in which this process can create groups; else return the reason why it cannot."""
    own, mounts = _memberships(), _mounts()
    unified = _folder(own.get(""), mounts.get("unified"))
    reason = "no control groups are mounted"
    if unified:
        # Version 2 first: it counts all memory in one place, and freezes and kills whole groups.
        parent = _unified_parent(unified, is_namespace=own[""] == "/")
        if isinstance(parent, CgroupParent):
            return parent
        reason = parent
    folders = {}
    # A group in `cpu` needs no limit: the kernel divides processors equally between groups, however many threads each
    # has. A new group has no real-time budget, so a real-time process (`chrt -r`) could not enter it.
    shared = () if os.sched_getscheduler(0) in (os.SCHED_FIFO, os.SCHED_RR) else ("cpu",)
    for controller in (*_NEEDED, *shared):
        folder = _folder(own.get(controller), mounts.get(controller))
        if folder and _may_make(folder):
            folders[controller] = folder
    if not all(controller in folders for controller in _NEEDED):
        return reason
    if unified and _may_make(unified) and os.path.exists(os.path.join(unified, "cgroup.procs")):
        folders["kill"] = unified
    return CgroupParent(folders, is_unified=False)


def remedy() -> str:
    """Return how to start the arena so that it can create control groups."""
    if os.path.isdir("/run/systemd/system"):
        user = "--user " if os.geteuid() else ""
        return f"systemd-run {user}--scope -p Delegate=yes arena ..., or run it as a service with Delegate=yes"
    if any(map(os.path.exists, ("/.dockerenv", "/run/.containerenv"))):
        return "let the container write its control group: podman run --security-opt unmask=/sys/fs/cgroup"
    return "run as root with /sys/fs/cgroup mounted for writing, or as a systemd service with Delegate=yes"


def _unified_parent(folder: str, *, is_namespace: bool = False) -> CgroupParent | str:
    """Find a group of version 2 that can delegate memory and pids controllers: that of this process, or its parent if
    this process was moved to a leaf.

    `is_namespace`: the group is the outermost one that this process sees, as in a container.
    """
    # An earlier process of this service has moved itself to the leaf and made the parent delegate.
    if os.path.basename(folder) == _REFEREE:
        folder = os.path.dirname(folder)
    controllers = _read(folder, "cgroup.controllers").split()
    if not all(controller in controllers for controller in _NEEDED):
        return f"{folder} lacks the memory or pids controller (version 2)"
    if not _may_make(folder):
        return f"{folder} is not writable; under systemd set Delegate=yes"
    if not all(controller in _read(folder, "cgroup.subtree_control").split() for controller in _NEEDED):
        # A group that delegates controllers may not contain processes: move them to a leaf, if all are the arena's or
        # their container's. Only the machine's outermost group, which lacks this file, may contain some.
        is_bounded = os.path.exists(os.path.join(folder, "cgroup.type"))
        members = {int(pid) for pid in _read(folder, "cgroup.procs").split()} if is_bounded else set()
        if not is_namespace and members - {os.getpid(), *descendants(os.getpid())}:
            return f"{folder} is shared with other programs; start the arena in a group of its own (Delegate=yes)"
        try:
            leaf = os.path.join(folder, _REFEREE)
            if members:
                os.makedirs(leaf, exist_ok=True)
            for pid in members:
                with contextlib.suppress(ProcessLookupError):  # it has ended
                    _write(leaf, "cgroup.procs", str(pid))
            _write(folder, "cgroup.subtree_control", "+memory +pids")
            with contextlib.suppress(OSError):
                # Not every system delegates the processor, and no limit depends on it.
                _write(folder, "cgroup.subtree_control", "+cpu")
        except OSError as error:
            return f"{folder} does not delegate its controllers: {error.strerror}"
    return CgroupParent({"memory": folder, "pids": folder}, is_unified=True)


def _memberships() -> dict[str, str]:
    """Read the path of this process's group by controller; the group of version 2 has the empty name."""
    groups = {}
    with contextlib.suppress(OSError), open("/proc/self/cgroup", encoding="utf-8") as file:
        for line in file:
            _, controllers, path = line.rstrip("\n").split(":", 2)
            for controller in controllers.split(","):
                groups[controller] = path
    return groups


def _mounts() -> dict[str, tuple[str, str]]:
    """Read the root and the mount point of every mounted hierarchy by controller; that of version 2 is `unified`."""
    mounts: dict[str, tuple[str, str]] = {}
    with contextlib.suppress(OSError), open("/proc/self/mountinfo", encoding="utf-8") as file:
        for line in file:
            fields, _, rest = line.partition(" - ")
            kind, _, options = rest.split(" ", 2)
            root, place = fields.split(" ")[3:5]
            if kind == "cgroup2":
                mounts.setdefault("unified", (root, place))
            elif kind == "cgroup":
                for controller in options.strip().split(","):
                    mounts.setdefault(controller, (root, place))
    return mounts


def _folder(path: str | None, mount: tuple[str, str] | None) -> str:
    if path is None or mount is None:
        return ""
    root, place = mount
    # In a container the mount shows a part of the hierarchy only: `root` is the path of that part.
    inside = path.removeprefix(root) if root != "/" else path
    folder = os.path.normpath(f"{place}/{inside}")
    return folder if os.path.isdir(folder) else ""


def _may_make(folder: str) -> bool:
    return os.access(folder, os.W_OK) and not os.statvfs(folder).f_flag & os.ST_RDONLY


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _table(folder: str, name: str) -> dict[str, int]:
    pairs = (line.split() for line in _read(folder, name).splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}


def _read(folder: str, name: str) -> str:
    try:
        with open(os.path.join(folder, name), encoding="ascii") as file:
            return file.read()
    except OSError:
        return ""


def _write(folder: str, name: str, text: str) -> None:
    with open(os.path.join(folder, name), "w", encoding="ascii") as file:
        file.write(text)
