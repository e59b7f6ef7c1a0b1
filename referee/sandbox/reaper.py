"""Finds, kills and reaps every process a bot may have started, also those that fled its process group.

Linux only: a slot declares itself subreaper, so that orphans of its bots become its own children and can be found.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import time
from collections.abc import Collection, Iterable, Iterator

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_ROUNDS = 200
KILL_TIMEOUT_S = 2.0
"""How long the killed may take to be gone: the memory of a big process is not freed in no time."""


def become_subreaper() -> bool:
    """Make orphaned descendants children of this process; False where the kernel offers no such thing."""
    try:
        return bool(ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False


def wake_at_death_of_parent() -> bool:
    """Have the kernel send SIGCONT when the thread that made this process ends: what was stopped wakes up to see it.

    False where the kernel offers no such thing.
    """
    try:
        return bool(ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGCONT, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False


def children(pid: int | str = "self") -> set[int]:
    """The process ids of a process's children, those of all its threads; of this process unless named."""
    found: set[int] = set()
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError):
                found.update(map(int, _content(f"/proc/{pid}/task/{task}/children").split()))
    return found


def _content(path: str) -> bytes:
    """What a file of the kernel's says: between any two games one is read, and a file object takes longer."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        found = data = os.read(file, 65_536)
        while data:
            data = os.read(file, 65_536)
            found += data
        return found
    finally:
        os.close(file)


def descendants(pid: int) -> Iterator[int]:
    """The children of a process, theirs, and so on."""
    for child in children(pid):
        yield child
        yield from descendants(child)


def kill_tree(pid: int) -> None:
    """Kill a process of ours that has not been reaped, its process group and all its descendants, and see them gone.

    All are stopped before the first is killed, so that none can fork and escape. `pid` itself is left to be reaped.
    """
    _kill_trees({pid})
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def kill_descendants(pid: int) -> None:
    """Kill all descendants of a process and see them gone; it is left to reap them, and woken if it was stopped."""
    _kill_trees({pid}, is_spared=True)
    _signal(pid, signal.SIGCONT)


def stop_tree(pid: int) -> set[int]:
    """Stop a process and all its descendants, so that nobody forks his way out; who they are."""
    return _stop_trees({pid})


def stop_threads(pid: int) -> None:
    """Stop a process by each of its threads: one that is running would take its slice before it hears of the others."""
    with contextlib.suppress(OSError, AttributeError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            ctypes.CDLL(None).tgkill(pid, int(thread), int(signal.SIGSTOP))


def sweep(keep: set[int]) -> int:
    """Kill and reap every child not in `keep`, and what they leave behind; the number of strays killed."""
    killed: set[int] = set()
    deadline = time.monotonic() + KILL_TIMEOUT_S
    while (strays := children() - keep) and time.monotonic() < deadline:
        _kill_trees(strays)
        for pid in strays:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        killed |= strays
    return len(killed)


def _stop_trees(roots: Iterable[int]) -> set[int]:
    stopped: set[int] = set()
    for _ in range(_ROUNDS):
        found = set(roots)
        for root in roots:
            found.update(descendants(root))
        if found <= stopped:
            break
        for pid in found - stopped:
            _signal(pid, signal.SIGSTOP)
        stopped |= found
    return stopped


def _kill_trees(roots: Collection[int], *, is_spared: bool = False) -> None:
    """Stop, then kill, all below `roots`, and `roots` unless they are spared; return when they are gone or zombies."""
    doomed = _stop_trees(roots)
    if is_spared:
        doomed -= set(roots)
    waiting: list[int] = []
    for pid in doomed:
        with contextlib.suppress(OSError):  # gone already
            waiting.append(os.pidfd_open(pid))
    try:
        for pid in doomed:
            _signal(pid, signal.SIGKILL)
        _see_gone(waiting)
    finally:
        for descriptor in waiting:
            os.close(descriptor)


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _see_gone(pid_fds: Iterable[int]) -> None:
    poll = select.poll()
    left = set(pid_fds)
    for descriptor in left:
        poll.register(descriptor, select.POLLIN)
    deadline = time.monotonic() + KILL_TIMEOUT_S
    while left and (patience := deadline - time.monotonic()) > 0:
        for descriptor, _ in poll.poll(patience * 1000):
            poll.unregister(descriptor)
            left.discard(descriptor)
