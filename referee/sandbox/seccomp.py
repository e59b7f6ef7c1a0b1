"""Build the system call filter of a sandboxed bot: a list of the calls that a bot needs, and all others refused.

A list of what is refused would have to name all memory that the kernel charges to no process, and to grow with it. A
bot computes, reads its files, writes some, starts threads and processes, and talks through pipes. `GROUPS` names the
calls for that. Programs get ENOSYS for the others, as from an older kernel, for which their libraries have fallbacks.

The filter is a classic BPF program over `struct seccomp_data`, built here without any library (see seccomp(2) and
linux/filter.h).
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

_Numbers: TypeAlias = tuple[int, int]
"""The numbers of a system call on x86-64, and on arm64 and every newer architecture; -1 where it does not exist."""


def _numbers(text: str) -> dict[str, _Numbers]:
    """Parse `name number number, …`; `-` stands for a number that does not exist."""
    calls = (call.split() for call in text.split(","))
    return {name: (_number(old), _number(new)) for name, old, new in calls}


def _number(word: str) -> int:
    return -1 if word == "-" else int(word)


@dataclass(frozen=True, slots=True)
class CallGroup:
    """System calls that a bot may make whatever their arguments, with the reason why it needs them."""

    name: str
    reason: str
    calls: dict[str, _Numbers] = field(repr=False)


GROUPS = (
    CallGroup(
        "files",
        "A bot reads its program, its libraries and its files, and writes to pipes and scratch files.",
        _numbers(
            "read 0 63, write 1 64, readv 19 65, writev 20 66, pread64 17 67, pwrite64 18 68, preadv 295 69, "
            "pwritev 296 70, preadv2 327 286, pwritev2 328 287, lseek 8 62, open 2 -, openat 257 56, creat 85 -, "
            "close 3 57, dup 32 23, dup2 33 -, dup3 292 24, stat 4 -, fstat 5 80, lstat 6 -, newfstatat 262 79, "
            "statx 332 291, statfs 137 43, fstatfs 138 44, access 21 -, faccessat 269 48, faccessat2 439 439, "
            "getdents 78 -, getdents64 217 61, readlink 89 -, readlinkat 267 78, getcwd 79 17, chdir 80 49, "
            "fchdir 81 50, umask 95 166, mkdir 83 -, mkdirat 258 34, rmdir 84 -, unlink 87 -, unlinkat 263 35, "
            "rename 82 -, renameat 264 38, renameat2 316 276, link 86 -, linkat 265 37, symlink 88 -, "
            "symlinkat 266 36, truncate 76 45, ftruncate 77 46, fallocate 285 47, fsync 74 82, fdatasync 75 83, "
            "fadvise64 221 223, readahead 187 213, sendfile 40 71, copy_file_range 326 285"
        ),
    ),
    CallGroup(
        "waiting",
        "A bot waits for input, for its threads and for a time, on pipes of its own too.",
        _numbers(
            "poll 7 -, ppoll 271 73, select 23 -, pselect6 270 72, epoll_create 213 -, epoll_create1 291 20, "
            "epoll_ctl 233 21, epoll_wait 232 -, epoll_pwait 281 22, epoll_pwait2 441 441, pipe 22 -, pipe2 293 59, "
            "eventfd 284 -, eventfd2 290 19, timerfd_create 283 85, timerfd_settime 286 86, timerfd_gettime 287 87"
        ),
    ),
    CallGroup(
        "memory",
        "A bot allocates memory, and just-in-time compilers make it executable.",
        _numbers(
            "brk 12 214, munmap 11 215, mremap 25 216, mprotect 10 226, mincore 27 232, msync 26 227, "
            "membarrier 324 283"
        ),
    ),
    CallGroup(
        "threads",
        "A bot searches in several threads, which wait for each other.",
        _numbers(
            "futex 202 98, futex_waitv 449 449, set_robust_list 273 99, set_tid_address 218 96, gettid 186 178, "
            "rseq 334 293, arch_prctl 158 -, sched_yield 24 124, sched_getaffinity 204 123, sched_getparam 143 121, "
            "sched_getscheduler 145 120, sched_getattr 315 275, sched_get_priority_max 146 125, "
            "sched_get_priority_min 147 126, sched_rr_get_interval 148 127, getcpu 309 168, getpriority 140 141"
        ),
    ),
    CallGroup(
        "processes",
        "A bot may be a script that starts programs. The sandbox itself changes the user before the bot begins, which "
        "the kernel refuses to a bot.",
        _numbers(
            "fork 57 -, vfork 58 -, execve 59 221, wait4 61 260, waitid 247 95, exit 60 93, exit_group 231 94, "
            "getpid 39 172, getppid 110 173, getpgrp 111 -, getuid 102 174, geteuid 107 175, getgid 104 176, "
            "getegid 108 177, getresuid 118 148, getresgid 120 150, getgroups 115 158, setresuid 117 147, "
            "setresgid 119 149, setreuid 113 145, setregid 114 143, setuid 105 146, setgid 106 144, "
            "setgroups 116 159, capget 125 90, capset 126 91, getrlimit 97 163, setrlimit 160 164, "
            "getrusage 98 165, times 100 153, sysinfo 99 179, uname 63 160, getrandom 318 278"
        ),
    ),
    CallGroup(
        "signals",
        "A bot handles signals and the alarm of its own clock. Timers with a signal of choice are refused: SIGCONT "
        "would resume a stopped process.",
        _numbers(
            "rt_sigaction 13 134, rt_sigprocmask 14 135, rt_sigreturn 15 139, rt_sigpending 127 136, "
            "rt_sigtimedwait 128 137, rt_sigsuspend 130 133, sigaltstack 131 132, restart_syscall 219 128, "
            "pause 34 -, alarm 37 -, getitimer 36 102, setitimer 38 103"
        ),
    ),
    CallGroup(
        "time",
        "A bot measures the time that it thinks, and sleeps.",
        _numbers("nanosleep 35 101, gettimeofday 96 169, time 201 -"),
    ),
    CallGroup(
        "pairs",
        "Event loops wake themselves, and programs talk to those they start, through pairs of connected sockets. "
        "Messages that can carry descriptors are refused: on its way a descriptor is in no process's table.",
        _numbers(
            "sendto 44 206, recvfrom 45 207, recvmsg 47 212, recvmmsg 299 243, shutdown 48 210, getsockopt 55 209, "
            "getsockname 51 204, getpeername 52 205"
        ),
    ),
)
"""The allowed calls, the most frequent groups first. A few more are allowed with certain arguments (`_Builder`)."""

_CONNECTIONS = _numbers("connect 42 203, bind 49 200, listen 50 201, accept 43 202, accept4 288 242")
"""Calls for connections on the bot's own machine, where it has one."""
_CLOCKS = _numbers("clock_gettime 228 113, clock_getres 229 114, clock_nanosleep 230 115")
"""Calls about a clock. The kernel shows everybody the processor time of every process, and so how long others think."""
_METADATA = _numbers(
    "chmod 90 -, fchmod 91 52, fchmodat 268 53, fchmodat2 452 452, utime 132 -, utimes 235 -, futimesat 261 -, "
    "utimensat 280 88"
)
"""Calls that change mode and times of files, which Landlock does not restrict: allowed to a bot in namespaces, where
all files that it could change are its own.
"""
_REFUSED = _numbers(
    "mlock 149 228, mlock2 325 284, mlockall 151 230, sched_setattr 314 274, ioprio_set 251 30, chown 92 -, "
    "lchown 94 -, fchown 93 55, fchownat 260 54, "
    "ptrace 101 117, process_vm_readv 310 270, process_vm_writev 311 271, unshare 272 97, setns 308 268, "
    "mount 165 40, umount2 166 39, pivot_root 155 41, chroot 161 51, personality 135 92, seccomp 317 277, "
    "sendmsg 46 211, sendmmsg 307 269, perf_event_open 298 241"
)
"""Calls for which programs expect EPERM where they lack the right: with ENOSYS some would end."""
_IGNORED = _numbers("sched_setaffinity 203 122, setsid 112 157, setpgid 109 154")
"""Calls that report success without effect, because some programs exit otherwise. All processes of a bot stay in one
process group: a signal to it reaches even those that fork all the time.
"""
_OF_A_PROCESS = _numbers(
    "prlimit64 302 261, sched_setscheduler 144 119, sched_setparam 142 118, getsid 124 156, getpgid 121 155, "
    "get_robust_list 274 100"
)
"""Calls whose first argument is a process id, 0 for the caller. Landlock does not keep other processes from them."""
_SIGNALS = _numbers("kill 62 129, tkill 200 130, tgkill 234 131, rt_sigqueueinfo 129 138, rt_tgsigqueueinfo 297 240")
_CHECKED = _numbers(
    "clone 56 220, socket 41 198, socketpair 53 199, setsockopt 54 208, ioctl 16 29, fcntl 72 25, flock 73 32, "
    "close_range 436 436, mmap 9 222, madvise 28 233, setpriority 141 140, prctl 157 167"
)
"""Calls that are allowed with certain arguments only (`_Builder`)."""

_ABSENT = _numbers(
    "clone3 435 435, memfd_create 319 279, memfd_secret 447 447, shmget 29 194, shmat 30 196, shmctl 31 195, "
    "semget 64 190, semop 65 193, semctl 66 191, semtimedop 220 192, msgget 68 186, mq_open 240 180, "
    "io_setup 206 0, io_uring_setup 425 425, inotify_init 253 -, inotify_init1 294 26, fanotify_init 300 262, "
    "signalfd 282 -, signalfd4 289 74, timer_create 222 107, vmsplice 278 75, splice 275 76, tee 276 77, "
    "setxattr 188 5, getxattr 191 8, listxattr 194 11, mbind 237 235, set_mempolicy 238 237, get_mempolicy 239 236, "
    "pidfd_open 434 434, pidfd_getfd 438 438, pidfd_send_signal 424 424, openat2 437 437, process_madvise 440 440, "
    "landlock_create_ruleset 444 444, bpf 321 280, userfaultfd 323 282, keyctl 250 219, add_key 248 217, "
    "name_to_handle_at 303 264, kcmp 312 272, mknod 133 -, mknodat 259 33, sync 162 81, syncfs 306 267, "
    "sync_file_range 277 84, modify_ldt 154 -, pkey_alloc 330 289, pkey_mprotect 329 288, mseal 462 462, "
    "munlock 150 229, remap_file_pages 216 234, clock_settime 227 112, adjtimex 159 171, ioprio_get 252 31"
)
"""Some calls that are not in the list, by name for messages: those that programs are known to make.

clone3 has its flags in memory, which a filter cannot read: without it, libraries call clone.
"""

_MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
"""The kernel's number of the architecture, and the place in `_Numbers`."""

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
        known = _MACHINES.get(machine or platform.machine())
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


def call_names(machine: str = "") -> tuple[dict[int, str], dict[int, str]]:
    """Return the names of system calls by number: of those that the filter names, and of some that it does not."""
    _, column = _MACHINES.get(machine or platform.machine(), (0, 0))
    listed = (*(group.calls for group in GROUPS), _CLOCKS, _CONNECTIONS, _METADATA, _REFUSED, _IGNORED, _OF_A_PROCESS)
    return (
        {numbers[column]: name for calls in (*listed, _SIGNALS, _CHECKED) for name, numbers in calls.items()},
        {numbers[column]: name for name, numbers in _ABSENT.items()},
    )


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
        self._on_all(_REFUSED, _DENY)
        self._on_all(_IGNORED, _SUCCEED)
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
            self._on_all(_CONNECTIONS, _PERMIT)
        else:
            self._on("socket", _refuse(errno.EACCES))
        if chosen.own_pid is None:
            self._in_namespaces()
        else:
            self._without_namespaces(chosen.own_pid, chosen.allows_signals)
        return b"".join((*self._parts, _UNKNOWN))

    def _on(self, name: str, *body: bytes) -> None:
        """Add `body`, which must end in a return, for a system call with a check of its arguments."""
        self._on_all({name: _CHECKED[name]}, *body)

    def _on_all(self, calls: dict[str, _Numbers], *body: bytes) -> None:
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
        self._on_all(_CLOCKS, _argument(0), _op(_JUMP_GREATER_EQUAL, 1 << 31, 1, 0), _PERMIT, *body)

    def _memory(self) -> None:
        without_file = _unless(3, _SHARED | _ANONYMOUS, _SHARED | _ANONYMOUS)
        self._on("mmap", *without_file, *_unless(3, _HUGE_PAGES, _HUGE_PAGES), _PERMIT)
        self._on("madvise", _argument(2), *_among((_MERGEABLE, _COLLAPSE), _INVALID, _PERMIT))

    def _files(self) -> None:
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
        # Requests to set a buffer size report success without effect, like the calls in `_IGNORED`.
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
        for calls in (_METADATA, _OF_A_PROCESS, _SIGNALS):
            self._on_all(calls, _PERMIT)

    def _without_namespaces(self, own_pid: int, allows_signals: bool) -> None:
        own = _among((0, own_pid), _PERMIT, _DENY)
        self._on_all(_METADATA, _DENY)
        self._on_all(_OF_A_PROCESS, _argument(0), *own)
        # Allow only PRIO_PROCESS; the other kinds are about a process group or all processes of a user.
        self._on("setpriority", _argument(0), _op(_JUMP_EQUAL, 0, 1, 0), _DENY, _argument(1), *own)
        self._on_all(_SIGNALS, *((_PERMIT,) if allows_signals else (_argument(0), *own)))
