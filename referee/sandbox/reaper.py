"""Find, kill and reap every process of a bot, including those that left its process group.

Linux only: the process of a game slot declares itself subreaper, so that orphans of its bots become its own children
and can be found.
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
# Processes that fork without end must not keep the referee here for ever.
_ROUNDS = 200
KILL_TIMEOUT_S = 2.0
"""Time to wait for killed processes: freeing the memory of a big process takes a while."""


def become_subreaper() -> bool:
    """Make orphaned descendants children of this process; return False if the kernel does not support that."""
    try:
        return bool(ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False


def wake_at_death_of_parent() -> bool:
    """Let the kernel wake this process by SIGCONT, if it is stopped, when the thread that created it ends.

    Returns False if the kernel does not support that.
    """
    try:
        return bool(ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGCONT, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False


def children(pid: int | str = "self") -> set[int]:
    """List the process ids of the children of all threads of a process, by default of this one."""
    pids: set[int] = set()
    with contextlib.suppress(OSError):
        # The kernel lists a child under the thread that forked it.
        for task in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError):
                pids.update(map(int, _content(f"/proc/{pid}/task/{task}/children").split()))
    return pids


def _content(path: str) -> bytes:
    """Read a file of the kernel without a file object, which would be slower: this is called after every game."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        content = data = os.read(file, 65_536)
        while data:
            data = os.read(file, 65_536)
            content += data
        return content
    finally:
        os.close(file)


def descendants(pid: int) -> Iterator[int]:
    """Yield the children of a process, their children, and so on."""
    for child in children(pid):
        yield child
        yield from descendants(child)


def kill_tree(pid: int) -> None:
    """Kill an unreaped child of this process, its process group and its descendants, and wait until they are gone.

    All are stopped by SIGSTOP before the first is killed, so that none can fork and escape. The caller must reap `pid`.
    """
    _kill_trees({pid})
    with contextlib.suppress(ProcessLookupError, PermissionError):
        # The caller has not reaped `pid`, so no other group can have this number.
        os.killpg(pid, signal.SIGKILL)


def kill_descendants(pid: int) -> None:
    """Kill all descendants of a process and wait until they are gone.

    The process must reap them itself; it is resumed if it was stopped.
    """
    _kill_trees({pid}, is_spared=True)
    # It was stopped with its descendants, and has to reap them.
    _signal(pid, signal.SIGCONT)


def stop_tree(pid: int) -> set[int]:
    """Stop a process and all its descendants by SIGSTOP, so that none can fork and escape; return their process ids."""
    return _stop_trees({pid})


def stop_threads(pid: int) -> None:
    """Stop a process by SIGSTOP to each of its threads: a running thread that is not signalled itself stops only after
    its time slice.
    """
    # AttributeError: C libraries before glibc 2.30 have no `tgkill`.
    with contextlib.suppress(OSError, AttributeError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            ctypes.CDLL(None).tgkill(pid, int(thread), int(signal.SIGSTOP))


def signal_groups(pids: Iterable[int], number: int) -> None:
    """Send a signal to the process groups of these processes, except those of this process's own session.

    The kernel signals all members of a group at one moment, also the children that they are forking.
    """
    own, groups = os.getsid(0), set()
    for pid in pids:
        with contextlib.suppress(OSError):  # gone already
            # A signal to a group of this process's session would reach this process, or the parent's others.
            if os.getsid(pid) != own:
                groups.add(os.getpgid(pid))
    for group in groups:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)


def sweep(keep: set[int]) -> int:
    """Kill and reap the children of this process that are not in `keep`, with descendants; return their number."""
    killed: set[int] = set()
    deadline = time.monotonic() + KILL_TIMEOUT_S
    # As this process is a subreaper, every round may bring the children of those just killed.
    while (strays := children() - keep) and time.monotonic() < deadline:
        _kill_trees(strays)
        for pid in strays:
            # Without waiting: a process that dies slowly is found again in the next round.
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        killed |= strays
    return len(killed)


def _stop_trees(roots: Iterable[int]) -> set[int]:
    stopped: set[int] = set()
    for _ in range(_ROUNDS):
        tree = set(roots)
        for root in roots:
            tree.update(descendants(root))
        # All that was found is stopped, and what is stopped cannot fork.
        if tree <= stopped:
            break
        signal_groups(tree - stopped, signal.SIGSTOP)
        for pid in tree - stopped:
            _signal(pid, signal.SIGSTOP)
        stopped |= tree
    return stopped


def _kill_trees(roots: Collection[int], *, is_spared: bool = False) -> None:
    """Stop, then kill all descendants of `roots`, and `roots` unless spared; return when all are gone or zombies."""
    doomed = _stop_trees(roots)
    if is_spared:
        doomed -= set(roots)
    waiting: list[int] = []
    for pid in doomed:
        with contextlib.suppress(OSError):  # gone already
            # Before the kill: after it, the process may be reaped and its id used again.
            waiting.append(os.pidfd_open(pid))
    try:
        signal_groups(doomed, signal.SIGKILL)
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
    while left and (left_s := deadline - time.monotonic()) > 0:
        for descriptor, _ in poll.poll(left_s * 1000):
            poll.unregister(descriptor)
            left.discard(descriptor)
