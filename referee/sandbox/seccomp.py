"""Build the system call filter of a sandboxed bot: it lets the calls of `referee.sandbox.syscalls` pass.

Programs get ENOSYS for all others, as from an older kernel, for which their libraries have fallbacks.

The filter is a classic BPF program over `struct seccomp_data`, built here without any library (see seccomp(2) and
linux/filter.h).
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from referee.sandbox.syscalls import (
    CHECKED,
    CLOCKS,
    CONNECTIONS,
    GROUPS,
    IGNORED,
    MACHINES,
    METADATA,
    OF_A_PROCESS,
    REFUSED,
    SIGNALS,
    Numbers,
)

_NEW_NAMESPACES = 0x7E020080
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET, NEWTIME: in them a bot would have capabilities."""
_THREAD, _SHARED_FILES = 0x10000, 0x400
"""CLONE_THREAD and CLONE_FILES."""
_REQUESTS = (0x5401, 0x540F, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
"""Allowed requests of ioctl: TCGETS, TIOCGPGRP and TIOCGWINSZ, by which programs ask whether a file is a terminal;
FIONREAD, FIONBIO, FIONCLEX, FIOCLEX. Others type into terminals, or make the kernel send signals for the bot.
"""
_OPTIONS = (1, 2, 3, 8, 15, 16, 21, 23, 24, 27, 28, 29, 30, 38, 39, 40, 42, 47)
"""Allowed options of prctl: death signal, names of threads, timer slack, and what setpriv(1) sets before the bot
begins. Excluded are, with the memory they cost or hide: SET_DUMPABLE (the watchdog could not read the process),
SET_SECCOMP, SET_VMA, SET_MEMORY_MERGE, SET_THP_DISABLE (would allow huge pages again), and core scheduling.
"""
_MERGEABLE, _COLLAPSE = 12, 25
"""Advice of madvise that makes the kernel keep memory for the pages of a process, or make huge pages of them."""
_SET_FLAGS, _ASYNC = 4, 0x2000
"""F_SETFL and O_ASYNC, with which the kernel sends a signal whenever a descriptor becomes ready."""
_FILE_COMMANDS = (0, 1, 2, 3, 5, 9, 11, 16, 36, 1025, 1027, 1030, 1032, 1034, 1035, 1036, 1037, 1038)
"""Allowed commands of fcntl: copies, flags and queries. Excluded are F_SETOWN, F_SETSIG and F_SETOWN_EX, which
send signals; leases, which block others that open the file; F_SETPIPE_SZ, which allocates kernel memory.
"""
_LOCK_COMMANDS = (6, 7, 37, 38)
"""F_SETLK, F_SETLKW and their variants for open files. Not even control groups count the kernel's memory of locks, and
a lock of a file that the arena uses too would block the arena.
"""
_SHARED, _ANONYMOUS, _HUGE_PAGES = 1, 0x20, 0x40000
"""Flags of mmap. Shared memory without a file may exist without being resident in any process; huge pages come from a
reserve of the whole machine.
"""
_SOCKET_LEVEL, _TCP_LEVEL, _IPV6_LEVEL = 1, 6, 41
_BUFFER_SIZES = (7, 8, 32, 33)
"""SO_SNDBUF, SO_RCVBUF and their FORCE variants: kernel memory that is not charged to the bot."""
_SOCKET_OPTIONS = (2, 4, 9, 13, 15, 20, 21)
"""Allowed options of a socket: addresses used again, keep-alive, linger, timeouts. Excluded is above all zero copy."""
_TCP_OPTIONS, _IPV6_OPTIONS = (1, 4, 5, 6), (26,)
"""TCP_NODELAY and the times of keep-alive; IPV6_V6ONLY."""
_UNIX, _INET, _INET6, _STREAM, _TYPE = 1, 2, 10, 1, 0xF
"""Families and type of a socket; `_TYPE` masks the type, above which are SOCK_NONBLOCK and SOCK_CLOEXEC."""
_TCP = (0, 6)
"""Allowed protocols: the default of a stream, and TCP by its number."""
_UNSHARE_FILES = 2
"""CLOSE_RANGE_UNSHARE gives a thread its own table of open files, like a clone without `_SHARED_FILES`."""
_CLOCK_OF_THREAD, _CLOCK_OF_PROCESS, _OWN_CLOCK = 4, 0xFFFFFFFC, 0xFFFFFFF8

_LOAD, _LOAD_AND, _JUMP_EQUAL, _JUMP_GREATER_EQUAL, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
"""Operations of classic BPF (linux/bpf_common.h): load a word, mask it, jump if equal, jump if not less, return."""
_ALLOW, _ERRNO, _REPORT = 0x7FFF0000, 0x00050000, 0x7FC00000
"""SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO and SECCOMP_RET_USER_NOTIF (linux/seccomp.h)."""
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
"""Offsets of the fields of `struct seccomp_data`."""


@dataclass(frozen=True, slots=True)
class SyscallFilter:
    """The parts of a filter that depend on the sandbox level."""

    own_pid: int | None = None
    """Process id of a bot without namespaces: calls about processes may name no other process. Such a bot gets no
    connections, and may not change mode or times of files.

    None: a bot in namespaces, or one that is not kept from other processes.
    """
    allows_signals: bool = True
    """True if signals may be sent to any process, because namespaces or Landlock restrict them."""
    has_network: bool = False
    """True if a bot in namespaces may have connections by TCP."""

    def program(self, machine: str = "") -> bytes:
        """Build the BPF program for this machine; empty if this module lacks its system call numbers."""
        known = MACHINES.get(machine or platform.machine())
        return b"" if known is None else _Builder(*known).build(self)

    def reporting_program(self, machine: str = "") -> bytes:
        """Build the program that leaves it to a listener to refuse a call (see seccomp_unotify(2)).

        Refusals to which every program is used, such as a request of a terminal, are not reported.
        """
        program = self.program(machine)
        # An operation, `struct sock_filter`, has 8 bytes.
        operations = (program[place : place + 8] for place in range(0, len(program), 8))
        return b"".join(_op(_RETURN, _REPORT) if part in (_DENY, _UNKNOWN) else part for part in operations)


def _op(code: int, k: int, jump_true: int = 0, jump_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, jump_true, jump_false, k)


def _refuse(number: int) -> bytes:
    return _op(_RETURN, _ERRNO | number)


_PERMIT, _DENY, _SUCCEED, _NO_LOCKS = _op(_RETURN, _ALLOW), _refuse(errno.EPERM), _refuse(0), _refuse(errno.ENOLCK)
_INVALID, _UNKNOWN = _refuse(errno.EINVAL), _refuse(errno.ENOSYS)


def _argument(index: int) -> bytes:
    """Return the operation that loads the low half of an argument (both architectures are little-endian)."""
    return _op(_LOAD, _ARGUMENTS + 8 * index)


def _among(values: Sequence[int], then: bytes, otherwise: bytes) -> tuple[bytes, ...]:
    """Return operations that execute `then` if the loaded value is one of `values`, else `otherwise`."""
    # A jump passes over the comparisons that are left, and over `otherwise`.
    jumps = [_op(_JUMP_EQUAL, value, len(values) - place, 0) for place, value in enumerate(values)]
    return (*jumps, otherwise, then)


def _unless(index: int, mask: int, forbidden: int) -> tuple[bytes, ...]:
    """Return operations that deny the call if the masked argument is `forbidden`, else continue."""
    return (_argument(index), _op(_LOAD_AND, mask), _op(_JUMP_EQUAL, forbidden, 0, 1), _DENY)


def _only(index: int, mask: int, values: Sequence[int], otherwise: bytes) -> tuple[bytes, ...]:
    """Return operations that continue if the masked argument is one of `values`, else execute `otherwise`."""
    jumps = [_op(_JUMP_EQUAL, value, len(values) - place, 0) for place, value in enumerate(values)]
    return (_argument(index), _op(_LOAD_AND, mask), *jumps, otherwise)


class _Builder:
    """Builds a filter for one architecture."""

    def __init__(self, architecture: int, column: int) -> None:
        self._column = column
        self._parts = [
            _op(_LOAD, _ARCHITECTURE),
            # Programs of another architecture, such as 32-bit ones on x86-64, give other numbers to the same calls.
            _op(_JUMP_EQUAL, architecture, 1, 0),
            _DENY,
            _op(_LOAD, _NUMBER),
        ]
        if column == 0:  # call numbers of the x32 interface of x86-64 start here
            self._parts += [_op(_JUMP_GREATER_EQUAL, 0x40000000, 0, 1), _DENY]

    def build(self, chosen: SyscallFilter) -> bytes:
        for group in GROUPS:
            self._on_all(group.calls, _PERMIT)
        self._on_all(REFUSED, _DENY)
        self._on_all(IGNORED, _SUCCEED)
        self._clocks()
        self._memory()
        self._files()
        # If a thread had its own table of open files, they would be missing from the count of its process.
        alone = _unless(0, _THREAD | _SHARED_FILES, _THREAD)
        self._on("clone", *alone, _argument(0), _op(_LOAD_AND, _NEW_NAMESPACES), *_among((0,), _PERMIT, _DENY))
        # EINVAL, as from a kernel that does not know the option.
        self._on("prctl", _argument(0), *_among(_OPTIONS, _PERMIT, _INVALID))
        pair = (*_only(0, 0xFFFF, (_UNIX,), _refuse(errno.EAFNOSUPPORT)), *_only(1, _TYPE, (_STREAM,), _DENY))
        self._on("socketpair", *pair, _PERMIT)
        self._socket_options()
        if chosen.has_network and chosen.own_pid is None:
            # No other families, types and protocols: control groups do not count their buffers.
            family = _only(0, 0xFFFF, (_INET, _INET6), _refuse(errno.EAFNOSUPPORT))
            kind = _only(1, _TYPE, (_STREAM,), _refuse(errno.EACCES))
            self._on("socket", *family, *kind, _argument(2), *_among(_TCP, _PERMIT, _refuse(errno.EPROTONOSUPPORT)))
            self._on_all(CONNECTIONS, _PERMIT)
        else:
            self._on("socket", _refuse(errno.EACCES))
        if chosen.own_pid is None:
            self._in_namespaces()
        else:
            self._without_namespaces(chosen.own_pid, chosen.allows_signals)
        return b"".join((*self._parts, _UNKNOWN))

    def _on(self, name: str, *body: bytes) -> None:
        """Add `body`, which must end in a return, for a system call with a check of its arguments."""
        self._on_all({name: CHECKED[name]}, *body)

    def _on_all(self, calls: dict[str, Numbers], *body: bytes) -> None:
        for numbers in calls.values():
            if (number := numbers[self._column]) >= 0:
                # Any other call jumps over the body. A jump is one byte, so `_op` refuses a body of more than 255
                # operations.
                self._parts.extend((_op(_JUMP_EQUAL, number, 0, len(b"".join(body)) // 8), *body))

    def _clocks(self) -> None:
        # Clocks of processes are negative: the inverted process id, 0 for the caller, and three bits. One of them
        # stands for a thread, which the kernel shows only to its own process.
        own = _among((_OWN_CLOCK,), _PERMIT, _INVALID)
        thread = (_op(_LOAD_AND, _CLOCK_OF_THREAD), _op(_JUMP_EQUAL, _CLOCK_OF_THREAD, 0, 1), _PERMIT)
        body = (*thread, _argument(0), _op(_LOAD_AND, _CLOCK_OF_PROCESS), *own)
        self._on_all(CLOCKS, _argument(0), _op(_JUMP_GREATER_EQUAL, 1 << 31, 1, 0), _PERMIT, *body)

    def _memory(self) -> None:
        without_file = _unless(3, _SHARED | _ANONYMOUS, _SHARED | _ANONYMOUS)
        self._on("mmap", *without_file, *_unless(3, _HUGE_PAGES, _HUGE_PAGES), _PERMIT)
        # EINVAL, as from a kernel without this advice (madvise(2)).
        self._on("madvise", _argument(2), *_among((_MERGEABLE, _COLLAPSE), _INVALID, _PERMIT))

    def _files(self) -> None:
        # ENOLCK, as over NFS without a lock server (fcntl(2)).
        self._on("flock", _NO_LOCKS)
        self._on("close_range", *_unless(2, _UNSHARE_FILES, _UNSHARE_FILES), _PERMIT)
        self._on("ioctl", _argument(1), *_among(_REQUESTS, _PERMIT, _refuse(errno.ENOTTY)))
        flags = (*_unless(2, _ASYNC, _ASYNC), _PERMIT)
        locks = [_op(_JUMP_EQUAL, command, 0, 1) + _NO_LOCKS for command in _LOCK_COMMANDS]
        others = (*locks, *_among(_FILE_COMMANDS, _PERMIT, _DENY))
        self._on("fcntl", _argument(1), _op(_JUMP_EQUAL, _SET_FLAGS, 0, len(flags)), *flags, *others)

    def _socket_options(self) -> None:
        unknown = _refuse(errno.ENOPROTOOPT)
        body: list[bytes] = [_argument(1)]
        # Requests to set a buffer size report success without effect, like the calls in `IGNORED`.
        sizes = [_op(_JUMP_EQUAL, size, 0, 1) + _SUCCEED for size in _BUFFER_SIZES]
        for level, options in (
            (_SOCKET_LEVEL, (_argument(2), *sizes, *_among(_SOCKET_OPTIONS, _PERMIT, unknown))),
            (_TCP_LEVEL, (_argument(2), *_among(_TCP_OPTIONS, _PERMIT, unknown))),
            (_IPV6_LEVEL, (_argument(2), *_among(_IPV6_OPTIONS, _PERMIT, unknown))),
        ):
            body += [_op(_JUMP_EQUAL, level, 0, len(b"".join(options)) // 8), *options]
        self._on("setsockopt", *body, unknown)

    def _in_namespaces(self) -> None:
        self._on("setpriority", _PERMIT)
        for calls in (METADATA, OF_A_PROCESS, SIGNALS):
            self._on_all(calls, _PERMIT)

    def _without_namespaces(self, own_pid: int, allows_signals: bool) -> None:
        own = _among((0, own_pid), _PERMIT, _DENY)
        self._on_all(METADATA, _DENY)
        self._on_all(OF_A_PROCESS, _argument(0), *own)
        # Allow only PRIO_PROCESS; the other kinds are about a process group or all processes of a user.
        self._on("setpriority", _argument(0), _op(_JUMP_EQUAL, 0, 1, 0), _DENY, _argument(1), *own)
        self._on_all(SIGNALS, *((_PERMIT,) if allows_signals else (_argument(0), *own)))
