"""Builds the system call filter of a sandboxed bot: what namespaces and Landlock do not cover is refused.

The filter is a classic BPF program over `struct seccomp_data`, built here without any library (see seccomp(2) and
linux/filter.h).
"""

from __future__ import annotations

import errno
import platform
import struct
from dataclasses import dataclass

# Where a call has two numbers: on x86-64, on arm64 (and every newer architecture).
_REFUSED: dict[str, tuple[int, int]] = {
    # New namespaces would give the bot capabilities over something again.
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
    # Other processes.
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
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
    # Memory that belongs to no process, so that nobody would count it.
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
}
_ABSENT: dict[str, tuple[int, int]] = {
    # Programs try these and take another way where the kernel has no such call.
    "clone3": (435, 435),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
}
_CLONE, _SOCKET, _IOCTL, _SET_AFFINITY = (56, 220), (41, 198), (16, 29), (203, 122)
_SIGNALS: dict[str, tuple[int, int]] = {
    "kill": (62, 129),
    "tkill": (200, 130),
    "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
}
_PIDFD_SEND_SIGNAL = (424, 424)
_METADATA: dict[str, tuple[int, int]] = {
    # Landlock does not care about these.
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
"""arm64 has only the newest call of each kind: it stands for the older ones."""

_MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
"""The kernel's number of the architecture, and the column of the tables above."""

_NEW_NAMESPACES = 0x7E020080
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET, NEWTIME."""
_TERMINAL_INPUT = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX put words into the mouth of whoever sits at the terminal."""

_LOAD, _LOAD_AND, _JUMP_EQUAL, _JUMP_GREATER_EQUAL, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16


@dataclass(frozen=True, slots=True)
class Filter:
    """What a filter lets through beyond the common list."""

    has_namespaces: bool = True
    """A bot in namespaces of its own may have local, internet and netlink sockets, and change what it owns. One without
    gets no sockets but pairs, and may not change whose a file is, its mode, its times."""
    signals_to: int | None = None
    """The only process that signals may be sent to; None where namespaces or Landlock see to that."""

    def program(self, machine: str = "") -> bytes:
        """The BPF program for this machine; empty for one whose numbers are not known here."""
        known = _MACHINES.get(machine or platform.machine())
        return b"" if known is None else _build(self, *known)


def _op(code: int, k: int, jump_true: int = 0, jump_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, jump_true, jump_false, k)


def _refuse(number: int) -> bytes:
    return _op(_RETURN, _ERRNO | number)


def _build(chosen: Filter, architecture: int, column: int) -> bytes:
    permit, deny = _op(_RETURN, _ALLOW), _refuse(errno.EPERM)
    parts = [
        _op(_LOAD, _ARCHITECTURE),
        _op(_JUMP_EQUAL, architecture, 1, 0),
        deny,
        _op(_LOAD, _NUMBER),
    ]
    if column == 0:  # the x32 interface of x86-64 counts from here
        parts += [_op(_JUMP_GREATER_EQUAL, 0x40000000, 0, 1), deny]

    def on(numbers: tuple[int, int], *body: bytes) -> None:
        """For that call do `body`, which must end in a return."""
        parts.extend((_op(_JUMP_EQUAL, numbers[column], 0, len(b"".join(body)) // 8), *body))

    def argument(index: int) -> bytes:
        """Load the low half of an argument (both machines are little-endian)."""
        return _op(_LOAD, _ARGUMENTS + 8 * index)

    for numbers in _REFUSED.values():
        on(numbers, deny)
    for numbers in _ABSENT.values():
        on(numbers, _refuse(errno.ENOSYS))
    # A bot that wants other cores is told that it has them: some programs end otherwise.
    on(_SET_AFFINITY, _refuse(0))
    on(_CLONE, argument(0), _op(_LOAD_AND, _NEW_NAMESPACES), _op(_JUMP_EQUAL, 0, 0, 1), permit, deny)
    asks = [_op(_JUMP_EQUAL, request, len(_TERMINAL_INPUT) - place, 0) for place, request in enumerate(_TERMINAL_INPUT)]
    on(_IOCTL, argument(1), *asks, permit, deny)
    if chosen.has_namespaces:
        domains = (_UNIX, _INET, _INET6, _NETLINK)
        jumps = [_op(_JUMP_EQUAL, domain, len(domains) - place, 0) for place, domain in enumerate(domains)]
        on(_SOCKET, argument(0), *jumps, _refuse(errno.EAFNOSUPPORT), permit)
    else:
        on(_SOCKET, _refuse(errno.EACCES))
        for numbers in _METADATA.values():
            on(numbers, deny)
    if chosen.signals_to is not None:
        for numbers in _SIGNALS.values():
            on(numbers, argument(0), _op(_JUMP_EQUAL, chosen.signals_to, 0, 1), permit, deny)
        on(_PIDFD_SEND_SIGNAL, deny)
    parts.append(permit)
    return b"".join(parts)
