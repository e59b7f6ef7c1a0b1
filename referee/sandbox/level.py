"""Sandbox levels, strongest first, the command prefix of each, and which of them work on this machine.

A level works if a small attack program, run once in the sandbox, fails with its attacks. `refusal` decides which levels
are strong enough for untrusted programs.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import select
import shutil
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from referee.game.spec import BotLimits
from referee.sandbox import bwrap, landlock, rlimits
from referee.sandbox.cgroup import CgroupParent, find_cgroup_parent
from referee.sandbox.child import Child
from referee.sandbox.launch import ONE_THREAD, Launch, Request, search_path, supervised
from referee.sandbox.privilege import is_root, is_shared, may_read_all, pick_user
from referee.sandbox.reaper import descendants
from referee.sandbox.watchdog import Watchdog

LEVELS = ("bwrap", "landlock", "rlimits", "none")
"""All levels, strongest first."""
STRONG = ("bwrap", "landlock")
"""Levels that must keep a program of unknown origin from files, network and other processes."""
PROCESSES = 10
"""Processes allowed in the test of a level, which tries to start twice as many."""
ANSWER_TIMEOUT_S = 10.0
_SPARE = 64
"""Number of processes by which the resource limit exceeds the control group's limit, so that the group enforces it."""
_LIMITS = replace(BotLimits(), processes=PROCESSES, memory_bytes=2**28)
_TRYING = threading.Lock()
"""Held while levels are tried: a second thread waits for the result instead of trying them too."""

Wrap = Callable[[Request], Launch]
"""Function that prefixes a command with a chain of programs. Raises OSError if one of them is not installed."""


def _plain(request: Request) -> Launch:
    # The arena's own variables contain passwords and tokens, which a bot must not get.
    known = {name: value for name, value in os.environ.items() if not name.startswith("ARENA_")}
    return supervised(request, {}, {**ONE_THREAD, **known, "PATH": search_path(os.environ.get("PATH", os.defpath))})


_WRAPS: dict[str, Wrap] = {
    "bwrap": bwrap.wrap,
    "landlock": landlock.wrap,
    "rlimits": rlimits.wrap,
    "none": _plain,
}


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A sandbox for bots. Game records contain its `name`; control groups are created under `cgroup_parent`, if any."""

    name: str
    cgroup_parent: CgroupParent | None = field(default=None, compare=False)
    reads_all: bool = False
    """True if a bot may open every file it can see, regardless of the owner: files of the person who started the arena.
    """
    is_recorded: bool = field(default=False, compare=False)
    """True if the standard error of each bot shall name the system calls that the filter refused."""

    def confine(
        self, command: Sequence[str], folder: str | None, limits: BotLimits, *, has_network: bool = False
    ) -> Launch:
        """Return the command with its sandbox prefix, to run in `folder` (None: the current folder).

        `has_network`: its programs may connect to each other by TCP, except in `landlock`, which has no network of its
        own. Raises OSError.
        """
        # A recorded bot has one process more: the one that refuses its calls (`launcher.refuse_calls`).
        wrap, own = _WRAPS[self.name], int(self.is_recorded)
        request = Request(command, folder, limits, spare=own, reads_all=self.reads_all, has_network=has_network)
        request = replace(request, is_recorded=self.is_recorded)
        if self.cgroup_parent is None or self.name == "none":
            return _with_overhead(wrap(request), own)
        group = self.cgroup_parent.make(limits, own + (bwrap.OVERHEAD if self.name == "bwrap" else 0))
        try:
            launch = wrap(replace(request, groups=group.files, spare=_SPARE))
        except OSError:
            group.close()
            raise
        return _with_overhead(replace(launch, cgroup=group), own)


def _with_overhead(launch: Launch, processes: int) -> Launch:
    return replace(launch, overhead=launch.overhead + processes)


def attack(sandbox: Sandbox) -> str:
    """Test a sandbox and describe its fault; return an empty text if it has none."""
    reason = "no Python to test with"
    for python in dict.fromkeys((sys.executable, shutil.which("python3", path="/usr/local/bin:/usr/bin:/bin"))):
        # The bot may be unable to reach this Python, as below /root: the second one is that of the system.
        if python:
            reason = _test(sandbox, python)
            if not reason:
                return ""
    return reason


def fault(sandbox: Sandbox, command: Sequence[str], folder: str | None, limits: BotLimits) -> str:
    """Explain why the sandbox cannot even run `true` in place of a bot that ended at once; return "" if it can.

    The bot's own output and exit code have no influence on the result.
    """
    try:
        # The command follows as arguments, so that the sandbox shows the same files as it does for the bot.
        child = Child(sandbox.confine(("true", *command), folder, limits), limits, Watchdog())
    except OSError as error:
        return f"{error.filename}: {error.strerror}"
    try:
        _, complaint = _listen(child)
        how = child.how_it_ended() if child.exits_within(ANSWER_TIMEOUT_S * 1000) else "it does not end"
        return "" if how == "exit code 0" else complaint.decode("utf-8", "replace").strip() or how
    finally:
        child.end()


def _test(sandbox: Sandbox, python: str) -> str:
    with socket.create_server(("127.0.0.1", 0)) as server, tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)  # noqa: S103 - only the sandbox may prevent the bot from writing there
        outside = Path(folder, "outside")
        # The probe is passed as an argument, because the bot's user may not be able to read its file.
        probe = (python, "-I", "-S", "-B", "-c", Path(__file__).with_name("probe.py").read_text())
        try:
            with _sibling(sandbox, probe) as sibling:
                words = (server.getsockname()[1], outside, PROCESSES, ",".join(map(str, sibling.pids)))
                results = _run(sandbox, (*probe, "attack", *map(str, words)))
                if isinstance(results, dict) and sibling.has_changed():
                    results["reached"].append("change its kernel state")
        except OSError as error:
            return f"{error.filename or python}: {error.strerror}"
        except ValueError as error:
            return str(error)
        if isinstance(results, str):
            return results
        return _judge(sandbox.name, results, outside.exists())


def _judge(name: str, results: dict[str, Any], has_written: bool) -> str:
    is_strong = name in STRONG
    if is_root() and results["user"] == 0:
        return "the bot still ran as root"
    # All that it tried: the limit also has room for the sandbox's own processes, so a few more prove nothing.
    if results["children"] >= 2 * PROCESSES and _is_counted(name):
        return f"the bot had {results['children']} children, {PROCESSES} were allowed"
    if is_strong and results["connected"]:
        return "the bot could connect to this machine"
    # Inside, the path may lead to a file system of the bot's own: only a file that appeared out here counts.
    if is_strong and (results["wrote"] and has_written):
        return "the bot could write outside the sandbox"
    if is_strong and results["reached"]:
        return f"the bot could reach another bot: {', '.join(results['reached'])}"
    return ""


def _is_counted(name: str) -> bool:
    """Return whether the kernel limits the processes of each bot; if bots share a user, only the watchdog does."""
    # An unprivileged bubblewrap makes a user namespace for each bot, in which the kernel counts processes separately.
    return not is_shared(pick_user()) or (name == "bwrap" and not is_root())


class _Sibling:
    """Another bot in a sandbox of the same level, and its state before the attack."""

    def __init__(self, child: Child) -> None:
        self._child = child
        self._before = self._ask()
        self.pids = (child.pid, *descendants(child.pid))

    def has_changed(self) -> bool:
        """Return whether the attack changed the state of the other bot, or ended it."""
        try:
            return self._ask() != self._before
        except (OSError, ValueError):
            return True

    def _ask(self) -> dict[str, Any]:
        os.write(self._child.stdin, b"\n")
        return _answer(self._child)


@contextlib.contextmanager
def _sibling(sandbox: Sandbox, probe: tuple[str, ...]) -> Iterator[_Sibling]:
    child = Child(sandbox.confine((*probe, "sibling"), None, _LIMITS), _LIMITS, Watchdog())
    try:
        yield _Sibling(child)
    finally:
        child.end()


def _run(sandbox: Sandbox, command: tuple[str, ...]) -> dict[str, Any] | str:
    """Run a program in the sandbox and return its answer, or the reason why there is no answer."""
    child = Child(sandbox.confine(command, None, _LIMITS), _LIMITS, Watchdog())
    try:
        return _answer(child)
    except ValueError as error:
        return str(error)
    finally:
        child.end()


def _answer(child: Child) -> dict[str, Any]:
    """Read a line of JSON from a program. Raises ValueError with the program's error message if it prints no JSON."""
    answer, complaint = _listen(child)
    try:
        return dict(json.loads(answer))
    except ValueError:
        lines = complaint.decode("utf-8", "replace").strip().splitlines()
        if lines or not child.exits_within(ANSWER_TIMEOUT_S * 1000):
            raise ValueError(lines[-1] if lines else "a program in it does not answer") from None
        raise ValueError(f"a program in the sandbox ended without output ({child.how_it_ended()})") from None


def _listen(child: Child) -> tuple[bytes, bytes]:
    """Read standard output and standard error until both are closed or the answer is complete."""
    texts = {child.stdout: b"", child.stderr: b""}
    poll = select.poll()
    for descriptor in texts:
        poll.register(descriptor, select.POLLIN)
    deadline, left = time.monotonic() + ANSWER_TIMEOUT_S, len(texts)
    while left and not texts[child.stdout].endswith(b"\n") and (left_s := deadline - time.monotonic()) > 0:
        for descriptor, _ in poll.poll(left_s * 1000):
            data = os.read(descriptor, 65_536)
            texts[descriptor] += data
            if not data:
                poll.unregister(descriptor)
                left -= 1
    return texts[child.stdout], texts[child.stderr]


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
    if name not in ("auto", *LEVELS):
        raise ValueError(f"invalid sandbox {name!r}: expected auto, {', '.join(LEVELS)}")
    with _TRYING:
        if name == "auto":
            name = next(level for level in LEVELS if assess(level).works)
        assessment = Assessment(name, works=True) if is_tried else assess(name)
    if not assessment.works:
        raise ValueError(f"sandbox {name} does not work here: {assessment.reason}; {assessment.fix}")
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
    reason = attack(Sandbox(name))
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
