"""Kernel memory of a process in addition to its resident memory: buffers, page tables, mappings.

Control groups count it exactly. Without them an upper bound is computed from values that are cheap to read; for an
ordinary bot the bound is a few megabytes.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from referee.game.spec import BotLimits
from referee.sandbox.rlimits import OPEN_FILES

_MAPPING_BYTES = 320
"""Kernel memory of a mapping and its tree node."""
_ANCESTOR_BYTES = 64
"""Kernel memory that links a mapping with the same mapping of one process from which it was forked."""
_WATCH_BYTES = 200
"""Kernel memory of a descriptor watched by epoll: 160 bytes by epoll(7), rounded up. Programs may watch one file under
many numbers.
"""
_MANY = 4096
"""If a process has this many mappings, the system's maximum is assumed, since counting them would take long."""
_PIPE_BYTES = 16 * 4096 // 2
"""Half of the 16 pages that a pipe has by default (pipe(7)), for each of its ends. The filter refuses larger pipes."""
_PAGE = os.sysconf("SC_PAGE_SIZE")
_CHUNK = 65_536
_SHARED = re.compile(
    rb"^(\w+)-(\w+) ..[^ ]s \w+ \w+:\w+ (\d+) +(?:/dev/zero \(deleted\)|/memfd:|/SYSV|/dev/shm/)", re.MULTILINE
)
"""A mapping of shared memory: its first address, the one after its last, and the memory's number in the kernel."""


def bound_bytes(limits: BotLimits) -> int:
    """Return an upper bound of the memory of a bot's sockets and pipes; 0 if its number of processes has no limit."""
    return limits.processes * OPEN_FILES * descriptor_bytes()


@functools.cache
def descriptor_bytes() -> int:
    """Return an upper bound of the memory of one descriptor: a pipe, or a socket buffer and one more message.

    The system call filter refuses larger buffers.
    """
    # 212,992 bytes is the default of the kernel itself.
    sizes = (_number(f"/proc/sys/net/core/{name}_default", 212_992) for name in ("wmem", "rmem"))
    # The kernel takes a message as long as the buffer is not full: the last one may exceed it.
    return max(_PIPE_BYTES, *(size + size // 4 for size in sizes))


def held_by_descriptors(pid: int) -> int:
    """Return an upper bound of the memory of a process's descriptors. Raises OSError if the process has ended."""
    folder = f"/proc/{pid}/fd"
    count = os.stat(folder).st_size or len(os.listdir(folder))  # Linux 6.2 and newer report the count as the size
    return count * descriptor_bytes()


@dataclass(slots=True)
class _Shared:
    """Shared memory of several processes: bytes of each object by its inode number, and bytes that are resident."""

    held: dict[int, int] = field(default_factory=dict)
    resident: int = 0

    def add(self, number: int, size: int) -> None:
        """Add an object of shared memory; each object counts once."""
        # Each process may map a different part of the object.
        self.held[number] = max(size, self.held.get(number, 0))

    def absent(self) -> int:
        """Return the number of bytes of shared memory that are not resident in any process."""
        return max(0, sum(self.held.values()) - self.resident)


def held_by_processes(pids: Sequence[int]) -> int:
    """Estimate the memory of a tree of processes that is neither resident nor in buffers of descriptors.

    These are page tables, mappings, pages on swap, shared memory that is not resident, and files watched by epoll.
    Processes that have ended are left out.
    """
    shared, total = _Shared(), 0
    for pid in pids:
        with contextlib.suppress(OSError, ValueError):
            total += _held_by_mappings(pid, len(pids), shared)
        with contextlib.suppress(OSError, ValueError):
            total += _held_by_watches(pid, shared)
    return total + shared.absent()


def _held_by_mappings(pid: int, processes: int, shared: _Shared) -> int:
    with open(f"/proc/{pid}/status", "rb") as file:
        status = file.read()
    # Subtracted in the end: the census has counted resident shared memory already.
    shared.resident += _kilobytes(status, b"RssShmem:")
    try:
        lines = _read_lines(f"/proc/{pid}/maps", _MANY)
    except PermissionError:  # the process has made its mappings unreadable
        mappings = _MANY
    else:
        mappings = lines.count(b"\n")
        for mapping in _SHARED.finditer(lines):
            shared.add(int(mapping[3]), _mapped_bytes(pid, mapping[1].decode(), mapping[2].decode()))
    if mappings >= _MANY:
        # The kernel's own default: a process can have no more mappings than that.
        mappings = _number("/proc/sys/vm/max_map_count", 65_530)
    # For each mapping the kernel may keep a link to every process of the tree: any may be an ancestor of this one.
    mapping_bytes = _MAPPING_BYTES + processes * _ANCESTOR_BYTES
    return _kilobytes(status, b"VmPTE:") + _kilobytes(status, b"VmSwap:") + mappings * mapping_bytes


def _mapped_bytes(pid: int, start: str, end: str) -> int:
    """Return the size of a mapped object of shared memory; only the mapped part if this process may not look it up."""
    try:
        # `st_blocks` counts units of 512 bytes, whatever the file system's blocks are (inode(7)).
        return os.stat(f"/proc/{pid}/map_files/{start}-{end}").st_blocks * 512
    except OSError:
        return int(end, 16) - int(start, 16)


def _held_by_watches(pid: int, shared: _Shared) -> int:
    watches = 0
    for name in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            target = os.readlink(f"/proc/{pid}/fd/{name}")
            # Only the kernel's file about the descriptor shows what it watches.
            if target == "anon_inode:[eventpoll]" and watches < _MANY:
                watches += _read_lines(f"/proc/{pid}/fdinfo/{name}", _MANY).count(b"tfd:")
            elif target.startswith("/memfd:"):
                status = os.stat(f"/proc/{pid}/fd/{name}")
                shared.add(status.st_ino, status.st_blocks * 512)
    if watches >= _MANY:
        watches = _number("/proc/sys/fs/epoll/max_user_watches", 2**20)
    return watches * _WATCH_BYTES


def _kilobytes(status: bytes, name: bytes) -> int:
    """Read a size from a process's status, and convert it from kilobytes to bytes."""
    return int(status.partition(name)[2].partition(b"kB")[0] or 0) * 1024


def _read_lines(path: str, enough: int) -> bytes:
    """Read a file of the kernel, but not much more than `enough` lines."""
    text = b""
    with open(path, "rb", buffering=0) as file:
        while text.count(b"\n") < enough and (chunk := file.read(_CHUNK)):
            text += chunk
    return text


def held_by_network(pid: int) -> int:
    """Return an upper bound of the memory of connections in the network namespace of a process."""
    sockstat = b""
    for name in ("sockstat", "sockstat6"):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/net/{name}", "rb") as file:
            sockstat += file.read()
    return held_by_connections(sockstat)


def held_by_connections(sockstat: bytes) -> int:
    """Return an upper bound of the memory of connections from the `sockstat` of their namespace.

    The bound is at most the `mem` field, which counts all namespaces of the machine together.
    """
    used = pages = 0
    for words in map(bytes.split, sockstat.splitlines()):
        if words[0] in (b"TCP:", b"TCP6:"):
            used += int(words[2])
            pages = int(words[-1]) if words[-2] == b"mem" else pages
    # Both are upper bounds, so the lower one is closer.
    return min(used * _connection_bytes(), pages * _PAGE)


@functools.cache
def _connection_bytes() -> int:
    """Return the maximum buffer size of one end of a connection, both directions."""
    return sum(_number(f"/proc/sys/net/ipv4/tcp_{name}", 2**22, field=2) for name in ("wmem", "rmem"))


def _number(path: str, default: int, field: int = 0) -> int:
    try:
        with open(path, encoding="ascii") as file:
            return int(file.read().split()[field])
    except (OSError, ValueError, IndexError):
        return default
