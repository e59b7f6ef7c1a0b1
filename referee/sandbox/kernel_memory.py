"""What the kernel holds for a process beside its resident memory: buffers, page tables, mappings.

Where a control group counts, it counts these too. Elsewhere they are put at what they can be at most, from what is
cheap to read; an ordinary bot's come to a few megabytes.
"""

from __future__ import annotations

import contextlib
import functools
import os

from referee.game.spec import BotLimits
from referee.sandbox.rlimits import OPEN_FILES

_MAPPING_BYTES = 320
"""A mapping with its place in the tree of them."""
_MANY = 4096
"""So many mappings are not counted on, which would take long, but taken for as many as there can be."""
_PIPE_BYTES = 16 * 4096 // 2
"""A pipe has two ends. Larger ones are refused."""
_PAGE = os.sysconf("SC_PAGE_SIZE")
_CHUNK = 65_536


def bound_bytes(limits: BotLimits) -> int:
    """The most that a bot's sockets and pipes can hold while nobody looks; 0 where its processes are not bounded."""
    return limits.processes * OPEN_FILES * descriptor_bytes()


@functools.cache
def descriptor_bytes() -> int:
    """What one descriptor can hold: a socket its buffer and a message more; larger buffers are refused."""
    sizes = (_number(f"/proc/sys/net/core/{name}_default", 212_992) for name in ("wmem", "rmem"))
    return max(_PIPE_BYTES, *(size + size // 4 for size in sizes))


def held_by_descriptors(pid: int) -> int:
    """What the descriptors of a process can hold. Raises OSError when it is gone."""
    folder = f"/proc/{pid}/fd"
    return (os.stat(folder).st_size or len(os.listdir(folder))) * descriptor_bytes()  # the size is told since Linux 6.2


def held_by_mappings(pid: int) -> int:
    """The page tables of a process and its list of mappings. Raises OSError when it is gone."""
    with open(f"/proc/{pid}/status", "rb") as file:
        tables = int(file.read().partition(b"VmPTE:")[2].partition(b"kB")[0] or 0)
    try:
        mappings = _count_lines(f"/proc/{pid}/maps", _MANY)
    except PermissionError:  # it has hidden them
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
    """What the connections in the network of a process can hold, which is at most what all of the machine's do."""
    books = b""
    for name in ("sockstat", "sockstat6"):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/net/{name}", "rb") as file:
            books += file.read()
    return held_by_connections(books)


def held_by_connections(books: bytes) -> int:
    """The same from the kernel's books of one network (`sockstat`) whose last figure is of all networks together."""
    used = pages = 0
    for words in map(bytes.split, books.splitlines()):
        if words[0] in (b"TCP:", b"TCP6:"):
            used += int(words[2])
            pages = int(words[-1]) if words[-2] == b"mem" else pages
    return min(used * _connection_bytes(), pages * _PAGE)


@functools.cache
def _connection_bytes() -> int:
    """What one end of a connection may come to hold in both directions."""
    return sum(_number(f"/proc/sys/net/ipv4/tcp_{name}", 2**22, field=2) for name in ("wmem", "rmem"))


def _number(path: str, default: int, field: int = 0) -> int:
    try:
        with open(path, encoding="ascii") as file:
            return int(file.read().split()[field])
    except (OSError, ValueError, IndexError):
        return default
