"""Unique names of processes, by which other processes on the same machine can prove that an owner of a lease is dead.

They then need not wait for the lease to expire. A name is `host:pid:place-start:nonce`. `place` identifies one boot of
the kernel and one PID namespace: a PID is looked up only where it means the same process.
"""

from __future__ import annotations

import hashlib
import os
import re
import socket
import uuid
from pathlib import Path

_NAME = re.compile(r".*:([1-9][0-9]*):([0-9a-f]{8})-([0-9]+):[0-9a-f]{8}", re.ASCII)
_DEAD = ("Z", "X")
"""States of a process that has ended but was not reaped."""


def new_name() -> str:
    """Return a new unique name for a part of this process."""
    pid = os.getpid()
    return f"{socket.gethostname()[:60]}:{pid}:{_place() or '0' * 8}-{_start(pid)}:{uuid.uuid4().hex[:8]}"


def process_of(name: str) -> str:
    """Describe a named process for people, such as `process 4711 on host`."""
    found = _NAME.fullmatch(name)
    return f"process {found[1]} on {name.partition(':')[0]}" if found else f"process {name}"


def is_dead(name: str) -> bool:
    """Return whether the process with this name has certainly ended; False if that cannot be determined from here."""
    found = _NAME.fullmatch(name)
    if found is None or not _place() or found[2] != _place():
        return False
    pid, start = int(found[1]), int(found[3])
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:  # of another user, whose /proc entries may be hidden
        pass
    return start > 0 and _start(pid) not in (start, 0)


def _place() -> str:
    """Return an identifier of this boot of the kernel and this PID namespace; empty if the system hides them."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""
    return hashlib.sha256(f"{boot} {space}".encode()).hexdigest()[:8]


def _start(pid: int) -> int:
    """Return the start time of a process in clock ticks; -1 if it has ended, 0 if neither is known."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0
    state, *fields = text.rpartition(")")[2].split()
    return -1 if state in _DEAD else int(fields[18])
