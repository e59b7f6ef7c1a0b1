"""Names whoever owns a lease, so that others on the same machine can prove it dead instead of waiting for its lease.

A name is `machine:process:place-start:nonce`. `place` stands for one run of a kernel and one space of process numbers,
so that a number is only looked up where it means the same process.
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
"""States of a process that has ended and is only waited for."""


def new_name() -> str:
    """A name for something in this process; every call gives another one."""
    pid = os.getpid()
    return f"{socket.gethostname()[:60]}:{pid}:{_place() or '0' * 8}-{_start(pid)}:{uuid.uuid4().hex[:8]}"


def process_of(name: str) -> str:
    """The process of that name in words for people, such as `process 4711 on host`."""
    found = _NAME.fullmatch(name)
    return f"process {found[1]} on {name.partition(':')[0]}" if found else f"process {name}"


def is_dead(name: str) -> bool:
    """Whether the process of that name has certainly ended; False when that cannot be known from here."""
    found = _NAME.fullmatch(name)
    if found is None or not _place() or found[2] != _place():
        return False
    pid, start = int(found[1]), int(found[3])
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:  # somebody else's, who may hide what else there is to know
        pass
    return start > 0 and _start(pid) not in (start, 0)


def _place() -> str:
    """This run of the kernel and this space of process numbers; empty where the system does not tell."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""
    return hashlib.sha256(f"{boot} {space}".encode()).hexdigest()[:8]


def _start(pid: int) -> int:
    """When a process began, in ticks of the kernel; -1 when it has ended, 0 when that is not told."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0
    state, *fields = text.rpartition(")")[2].split()
    return -1 if state in _DEAD else int(fields[18])
