"""Build the system call filter of a sandboxed bot, which refuses what namespaces and Landlock do not cover.

The filter is a classic BPF program over `struct seccomp_data`, built here without any library (see seccomp(2) and
linux/filter.h).
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Sequence
from dataclasses import dataclass

# The numbers of each system call on x86-64, and on arm64 and every newer architecture.
_REFUSED: dict[str, tuple[int, int]] = {
    # In new namespaces the bot would have capabilities again.
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "move_mount": (429, 429),
    "open_tree": (428, 428),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_tree_attr": (467, 467),
    # Calls that act on other processes.
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "ioprio_set": (251, 30),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    # Key rings belong to the user, not to a namespace.
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    # Large parts of the kernel that no bot needs.
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "acct": (163, 89),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "syslog": (103, 116),
    "vhangup": (153, 58),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "personality": (135, 92),
    # Calls for memory that belongs to no process, so that it would not be charged to the bot.
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "semget": (64, 190),
    "semop": (65, 193),
    "semtimedop": (220, 192),
    "semctl": (66, 191),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "vmsplice": (278, 75),
    # Calls that can send descriptors. In transit a descriptor is in no process's table: its memory is not counted.
    "sendmsg": (46, 211),
    "sendmmsg": (307, 269),
}
_ABSENT: dict[str, tuple[int, int]] = {
    # Programs try these calls and have a fallback for kernels without them.
    "clone3": (435, 435),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "landlock_create_ruleset": (444, 444),
    "landlock_add_rule": (445, 445),
    "landlock_restrict_self": (446, 446),
    "pidfd_open": (434, 434),
    # A timer's signal could be SIGCONT, which resumes a stopped process.
    "timer_create": (222, 107),
    # The kernel limits inotify and AIO objects per user or for all users together: one bot could exhaust the limit.
    "inotify_init": (253, 26),
    "inotify_init1": (294, 26),
    "io_setup": (206, 0),
}
_OF_A_PROCESS: dict[str, tuple[int, int]] = {
    # The first argument of these calls is a process id, 0 for the caller. Landlock allows all processes of the user.
    "prlimit64": (302, 261),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "sched_setattr": (314, 274),
    "getsid": (124, 156),
    "getpgid": (121, 155),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    "get_robust_list": (274, 100),
}
_IGNORED: dict[str, tuple[int, int]] = {
    # These calls report success without effect, because some programs exit otherwise.
    "sched_setaffinity": (203, 122),
    # All processes of a bot stay in one process group: a signal to it reaches even those that fork all the time.
    "setsid": (112, 157),
    "setpgid": (109, 154),
}
_CLONE, _SOCKET, _IOCTL = (56, 220), (41, 198), (16, 29)
_FCNTL, _SET_PRIORITY, _PRCTL = (72, 25), (141, 140), (157, 167)
_SET_SOCKET_OPTION, _CLOSE_RANGE = (54, 208), (436, 436)
_MAP, _LOCK = (9, 222), (73, 32)
_SIGNALS: dict[str, tuple[int, int]] = {
    "kill": (62, 129),
    "tkill": (200, 130),
    "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
}
_PIDFD_SEND_SIGNAL = (424, 424)
_METADATA: dict[str, tuple[int, int]] = {
    # Landlock does not restrict these calls.
    "chmod": (90, 53),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, 54),
    "lchown": (94, 54),
    "fchown": (93, 55),
    "fchownat": (260, 54),
    "utime": (132, 88),
    "utimes": (235, 88),
    "futimesat": (261, 88),
    "utimensat": (280, 88),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "setxattrat": (463, 463),
    "removexattrat": (466, 466),
    "file_setattr": (469, 469),
}
"""Calls that change metadata of files. arm64 has only the newest call of each kind, listed for the older ones too."""

_MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
"""The kernel's number of the architecture, and the column of the tables above."""

_NEW_NAMESPACES = 0x7E020080
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET, NEWTIME."""
_THREAD, _SHARED_FILES = 0x10000, 0x400
_REQUESTS = (0x5412, 0x541C, 0x5452, 0x8901, 0x8902)
"""Forbidden requests of ioctl. TIOCSTI and TIOCLINUX type into the user's terminal; FIOASYNC, FIOSETOWN and SIOCSPGRP
make the kernel send signals for the bot.
"""
_SET_FLAGS, _ASYNC = 4, 0x2000
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
_BUFFER_SIZES = (7, 8, 32, 33)
"""SO_SNDBUF, SO_RCVBUF and their FORCE variants: kernel memory that is not charged to the bot."""
_SOCKET_LEVEL, _UNSHARE_FILES, _CORE_SCHEDULING, _SET_DUMPABLE = 1, 2, 62, 4

_LOAD, _LOAD_AND, _JUMP_EQUAL, _JUMP_GREATER_EQUAL, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_UNIX, _INET, _INET6 = 1, 2, 10


@dataclass(frozen=True, slots=True)
class SyscallFilter:
    """The parts of a filter that depend on the sandbox level."""

    own_pid: int | None = None
    """Process id of a bot without namespaces: calls about processes may name no other process. Such a bot gets no
    sockets except pairs, and may not change owner, mode or times of files.

    None: a bot in namespaces, or one that is not kept from other processes. It may have local and internet sockets, and
    change the files it owns.
    """
    allows_signals: bool = True
    """True if signals may be sent to any process, because namespaces or Landlock restrict them."""

    def program(self, machine: str = "") -> bytes:
        """Build the BPF program for this machine; empty if this module lacks its system call numbers."""
        known = _MACHINES.get(machine or platform.machine())
        return b"" if known is None else _Builder(*known).build(self)


def _op(code: int, k: int, jump_true: int = 0, jump_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, jump_true, jump_false, k)


def _refuse(number: int) -> bytes:
    return _op(_RETURN, _ERRNO | number)


_PERMIT, _DENY, _NO_LOCKS = _op(_RETURN, _ALLOW), _refuse(errno.EPERM), _refuse(errno.ENOLCK)


def _argument(index: int) -> bytes:
    """Return the operation that loads the low half of an argument (both architectures are little-endian)."""
    return _op(_LOAD, _ARGUMENTS + 8 * index)


def _among(values: Sequence[int], then: bytes, otherwise: bytes) -> tuple[bytes, ...]:
    """Return operations that execute `then` if the loaded value is one of `values`, else `otherwise`."""
    jumps = [_op(_JUMP_EQUAL, value, len(values) - place, 0) for place, value in enumerate(values)]
    return (*jumps, otherwise, then)


def _unless(index: int, mask: int, forbidden: int) -> tuple[bytes, ...]:
    """Return operations that deny the call if the masked argument is `forbidden`, else continue."""
    return (_argument(index), _op(_LOAD_AND, mask), _op(_JUMP_EQUAL, forbidden, 0, 1), _DENY)


class _Builder:
    """Builds a filter for one architecture."""

    def __init__(self, architecture: int, column: int) -> None:
        self._column = column
        self._parts = [
            _op(_LOAD, _ARCHITECTURE),
            _op(_JUMP_EQUAL, architecture, 1, 0),
            _DENY,
            _op(_LOAD, _NUMBER),
        ]
        if column == 0:  # call numbers of the x32 interface of x86-64 start here
            self._parts += [_op(_JUMP_GREATER_EQUAL, 0x40000000, 0, 1), _DENY]

    def on(self, numbers: tuple[int, int], *body: bytes) -> None:
        """Add `body`, which must end in a return, for the system call with these numbers."""
        self._parts.extend((_op(_JUMP_EQUAL, numbers[self._column], 0, len(b"".join(body)) // 8), *body))

    def build(self, chosen: SyscallFilter) -> bytes:
        for numbers in _REFUSED.values():
            self.on(numbers, _DENY)
        for numbers in _ABSENT.values():
            self.on(numbers, _refuse(errno.ENOSYS))
        for numbers in _IGNORED.values():
            self.on(numbers, _refuse(0))
        self._memory()
        self._files_and_threads()
        if chosen.own_pid is None:
            # Allow no other socket families: control groups do not count their buffers.
            domains = (_UNIX, _INET, _INET6)
            self.on(_SOCKET, _argument(0), *_among(domains, _PERMIT, _refuse(errno.EAFNOSUPPORT)))
            self.on(_PRCTL, _argument(0), *_among((_SET_DUMPABLE,), _DENY, _PERMIT))
        else:
            self._without_namespaces(chosen.own_pid, chosen.allows_signals)
        return b"".join((*self._parts, _PERMIT))

    def _memory(self) -> None:
        without_file = _unless(3, _SHARED | _ANONYMOUS, _SHARED | _ANONYMOUS)
        self.on(_MAP, *without_file, *_unless(3, _HUGE_PAGES, _HUGE_PAGES), _PERMIT)
        self.on(_LOCK, _NO_LOCKS)

    def _files_and_threads(self) -> None:
        # Requests to set a buffer size report success without effect, like the calls in `_IGNORED`.
        sizes = _among(_BUFFER_SIZES, _refuse(0), _PERMIT)
        self.on(_SET_SOCKET_OPTION, _argument(1), _op(_JUMP_EQUAL, _SOCKET_LEVEL, 1, 0), _PERMIT, _argument(2), *sizes)
        # If a thread had its own table of open files, they would be missing from the count of its process.
        alone = _unless(0, _THREAD | _SHARED_FILES, _THREAD)
        self.on(_CLONE, *alone, _argument(0), _op(_LOAD_AND, _NEW_NAMESPACES), *_among((0,), _PERMIT, _DENY))
        self.on(_CLOSE_RANGE, *_unless(2, _UNSHARE_FILES, _UNSHARE_FILES), _PERMIT)
        self.on(_IOCTL, _argument(1), *_among(_REQUESTS, _DENY, _PERMIT))
        flags = (*_unless(2, _ASYNC, _ASYNC), _PERMIT)
        locks = [_op(_JUMP_EQUAL, command, 0, 1) + _NO_LOCKS for command in _LOCK_COMMANDS]
        others = (*locks, *_among(_FILE_COMMANDS, _PERMIT, _DENY))
        self.on(_FCNTL, _argument(1), _op(_JUMP_EQUAL, _SET_FLAGS, 0, len(flags)), *flags, *others)

    def _without_namespaces(self, own_pid: int, allows_signals: bool) -> None:
        own = _among((0, own_pid), _PERMIT, _DENY)
        self.on(_SOCKET, _refuse(errno.EACCES))
        for numbers in _METADATA.values():
            self.on(numbers, _DENY)
        for numbers in _OF_A_PROCESS.values():
            self.on(numbers, _argument(0), *own)
        # Allow only PRIO_PROCESS; the other kinds are about a process group or all processes of a user.
        self.on(_SET_PRIORITY, _argument(0), _op(_JUMP_EQUAL, 0, 1, 0), _DENY, _argument(1), *own)
        self.on(_PRCTL, _argument(0), *_among((_CORE_SCHEDULING, _SET_DUMPABLE), _DENY, _PERMIT))
        if not allows_signals:
            for numbers in _SIGNALS.values():
                self.on(numbers, _argument(0), *own)
            self.on(_PIDFD_SEND_SIGNAL, _DENY)
