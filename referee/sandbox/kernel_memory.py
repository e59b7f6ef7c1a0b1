"""Kernel memory of a process in addition to its resident memory: buffers, page tables, mappings.

Control groups count it exactly. Otherwise an upper bound is computed from values that are cheap to read; for an
ordinary bot it is a few megabytes.
"""

from __future__ import annotations

import contextlib
import functools
import os

from referee.game.spec import BotLimits
from referee.sandbox.rlimits import OPEN_FILES

_MAPPING_BYTES = 320
"""Kernel memory of a mapping and its tree node."""
_MANY = 4096
"""Number of mappings from which on they are not counted, which would take long, but taken as the system's maximum."""
_PIPE_BYTES = 16 * 4096 // 2
"""Pipe buffer per end of the pipe. The filter refuses larger pipes."""
_PAGE = os.sysconf("SC_PAGE_SIZE")
_CHUNK = 65_536


def bound_bytes(limits: BotLimits) -> int:
    """Return an upper bound of the memory of a bot's sockets and pipes; 0 if its processes are not limited."""
    return limits.processes * OPEN_FILES * descriptor_bytes()


@functools.cache
def descriptor_bytes() -> int:
    """Return an upper bound of the memory of one descriptor: a socket buffer and one more message.

    Larger buffers are refused by the system call filter.
    """
    sizes = (_number(f"/proc/sys/net/core/{name}_default", 212_992) for name in ("wmem", "rmem"))
    return max(_PIPE_BYTES, *(size + size // 4 for size in sizes))


def held_by_descriptors(pid: int) -> int:
    """Return an upper bound of the memory of a process's descriptors. Raises OSError if the process has ended."""
    folder = f"/proc/{pid}/fd"
    count = os.stat(folder).st_size or len(os.listdir(folder))  # Linux 6.2 and newer report the count as the size
    return count * descriptor_bytes()


def held_by_mappings(pid: int) -> int:
    """Estimate the memory of a process's page tables and mappings. Raises OSError if the process has ended."""
    with open(f"/proc/{pid}/status", "rb") as file:
        tables = int(file.read().partition(b"VmPTE:")[2].partition(b"kB")[0] or 0)
    try:
        mappings = _count_lines(f"/proc/{pid}/maps", _MANY)
    except PermissionError:  # the process has hidden them
        mappings = _MANY
    if mappings >= _MANY:
        mappings = _number("/proc/sys/vm/max_map_count", 65_530)
    return tables * 1024 + mappings * _MAPPING_BYTES


def _count_lines(path: str, enough: int) -> int:
    count = 0
    with open(path, "rb", buffering=0) as file:
        while count < enough and (chunk := file.read(_CHUNK)):
            count += chunk.count(b"\n")
    return count


def held_by_network(pid: int) -> int:
    """Bound the memory of connections in the network namespace of a process, at most that of the whole machine."""
    sockstat = b""
    for name in ("sockstat", "sockstat6"):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/net/{name}", "rb") as file:
            sockstat += file.read()
    return held_by_connections(sockstat)


def held_by_connections(sockstat: bytes) -> int:
    """Bound the memory of connections from `sockstat` of one namespace, whose `mem` counts all namespaces together."""
    used = pages = 0
    for words in map(bytes.split, sockstat.splitlines()):
        if words[0] in (b"TCP:", b"TCP6:"):
            used += int(words[2])
            pages = int(words[-1]) if words[-2] == b"mem" else pages
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
