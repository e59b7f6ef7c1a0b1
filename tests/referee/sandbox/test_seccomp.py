"""The system call filter, run by a small interpreter: what it lets through, what it refuses, on both machines."""

from __future__ import annotations

import errno
import re
import struct
from pathlib import Path

import pytest

from referee.sandbox import seccomp
from referee.sandbox.seccomp import SyscallFilter

MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
COMMON = {"read": (0, 63), "write": (1, 64), "execve": (59, 221), "getpid": (39, 172), "futex": (202, 98)}


# Numbers on x86-64 and arm64, from the kernel's headers and not from the table that is tested.
REFUSED = {
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
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "ioprio_set": (251, 30),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
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
    "sendmsg": (46, 211),
    "sendmmsg": (307, 269),
}
ABSENT = {
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
    "timer_create": (222, 107),
    "inotify_init": (253, 26),
    "inotify_init1": (294, 26),
    "io_setup": (206, 0),
}
IGNORED = {"sched_setaffinity": (203, 122), "setsid": (112, 157), "setpgid": (109, 154)}


def verdict(program: bytes, architecture: int, number: int, *arguments: int) -> int:
    """What the filter says of a call: 0 = allowed, else the error; -1 for a returned 0."""
    data = struct.pack("=IIQ6Q", number & 0xFFFFFFFF, architecture, 0, *(*arguments, *[0] * (6 - len(arguments))))
    steps = [struct.unpack_from("=HBBI", program, 8 * place) for place in range(len(program) // 8)]
    place = register = 0
    while True:
        code, jump_true, jump_false, k = steps[place]
        place += 1
        if code == 0x20:
            register = struct.unpack_from("=I", data, k)[0]
        elif code == 0x54:
            register &= k
        elif code == 0x15:
            place += jump_true if register == k else jump_false
        elif code == 0x35:
            place += jump_true if register >= k else jump_false
        elif code == 0x06:
            if k == ALLOW:
                return 0
            assert k & 0xFFFF0000 == ERRNO
            return (k & 0xFFFF) or -1
        else:
            raise AssertionError(f"unknown code {code:#x}")


@pytest.fixture(params=MACHINES)
def machine(request: pytest.FixtureRequest) -> tuple[int, str]:
    return list(MACHINES).index(request.param), request.param


def test_ordinary_calls_pass(machine: tuple[int, str]) -> None:
    column, name = machine
    for chosen in (SyscallFilter(), SyscallFilter(77), SyscallFilter(77, allows_signals=False)):
        program = chosen.program(name)
        assert len(program) % 8 == 0
        assert len(program) // 8 < 4096
        for number in COMMON.values():
            assert verdict(program, MACHINES[name], number[column]) == 0


def test_dangerous_calls_are_refused(machine: tuple[int, str]) -> None:
    column, name = machine
    program = SyscallFilter().program(name)
    for numbers in REFUSED.values():
        assert verdict(program, MACHINES[name], numbers[column]) == errno.EPERM
    for numbers in ABSENT.values():
        assert verdict(program, MACHINES[name], numbers[column]) == errno.ENOSYS
    for numbers in IGNORED.values():
        assert verdict(program, MACHINES[name], numbers[column]) == -1, "refused, and called a success"


def test_clone_makes_processes_and_threads_but_no_namespaces(machine: tuple[int, str]) -> None:
    column, name = machine
    program = SyscallFilter().program(name)
    clone = seccomp._CLONE[column]
    assert verdict(program, MACHINES[name], clone, 17) == 0
    assert verdict(program, MACHINES[name], clone, 0x3D0F00) == 0, "a thread"
    assert verdict(program, MACHINES[name], clone, 0x3D0B00) == errno.EPERM, "a thread with open files of its own"
    for flag in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000, 0x80):
        assert verdict(program, MACHINES[name], clone, 17 | flag) == errno.EPERM


def test_sockets_by_family(machine: tuple[int, str]) -> None:
    column, name = machine
    number = seccomp._SOCKET[column]
    inside, outside = SyscallFilter().program(name), SyscallFilter(77).program(name)
    for family in range(50):
        expected = 0 if family in (1, 2, 10) else errno.EAFNOSUPPORT
        assert verdict(inside, MACHINES[name], number, family, 1) == expected
        assert verdict(outside, MACHINES[name], number, family, 1) == errno.EACCES


def test_terminals_signals_and_modes(machine: tuple[int, str]) -> None:
    column, name = machine
    program = SyscallFilter().program(name)
    assert verdict(program, MACHINES[name], seccomp._IOCTL[column], 0, 0x5401) == 0
    for request in (0x5412, 0x541C, 0x5452, 0x8901, 0x8902):
        assert verdict(program, MACHINES[name], seccomp._IOCTL[column], 0, request) == errno.EPERM
    scoped, alone = SyscallFilter(77).program(name), SyscallFilter(77, allows_signals=False).program(name)
    for numbers in seccomp._SIGNALS.values():
        assert verdict(program, MACHINES[name], numbers[column], 1, 9) == 0
        assert verdict(scoped, MACHINES[name], numbers[column], 1, 9) == 0, "Landlock sees to that"
        assert verdict(alone, MACHINES[name], numbers[column], 77, 6) == 0
        assert verdict(alone, MACHINES[name], numbers[column], 0, 6) == 0, "its own group"
        for pid in (1, 76, 78, 0xFFFFFFFF):
            assert verdict(alone, MACHINES[name], numbers[column], pid, 9) == errno.EPERM
    assert verdict(alone, MACHINES[name], seccomp._PIDFD_SEND_SIGNAL[column], 3, 9) == errno.EPERM
    for numbers in seccomp._METADATA.values():
        assert verdict(program, MACHINES[name], numbers[column]) == 0
        assert verdict(alone, MACHINES[name], numbers[column]) == errno.EPERM


def test_without_namespaces_nobody_else_is_named(machine: tuple[int, str]) -> None:
    column, name = machine
    inside, outside = SyscallFilter().program(name), SyscallFilter(77).program(name)
    assert {"prlimit64", "sched_setscheduler", "sched_setparam", "sched_setattr"} <= set(seccomp._OF_A_PROCESS)
    for numbers in seccomp._OF_A_PROCESS.values():
        assert verdict(inside, MACHINES[name], numbers[column], 1234) == 0, "there it is one of its own"
        assert {verdict(outside, MACHINES[name], numbers[column], pid) for pid in (0, 77)} == {0}
        for pid in (1, 76, 78, 0xFFFFFFFF):
            assert verdict(outside, MACHINES[name], numbers[column], pid) == errno.EPERM
    one, group, user = 0, 1, 2
    set_priority, prctl = seccomp._SET_PRIORITY[column], seccomp._PRCTL[column]
    assert verdict(outside, MACHINES[name], set_priority, one, 0) == 0
    assert verdict(outside, MACHINES[name], set_priority, one, 77) == 0
    for what in ((one, 78), (group, 0), (user, 0), (user, 77)):
        assert verdict(outside, MACHINES[name], set_priority, *what) == errno.EPERM
    assert verdict(outside, MACHINES[name], prctl, 62, 1) == errno.EPERM
    assert verdict(outside, MACHINES[name], prctl, 1, 9) == 0


def test_files_send_no_signals_and_hold_no_more_than_they_do(machine: tuple[int, str]) -> None:
    column, name = machine
    program = SyscallFilter().program(name)
    fcntl = seccomp._FCNTL[column]
    owner, lease, copy, pipe, seals, hints = (9, 11, 16), (1025, 1027), 1030, 1032, 1034, (1035, 1036, 1037, 1038)
    for command in (0, 1, 2, 3, 5, 36, *owner, *lease, copy, pipe, seals, *hints):
        assert verdict(program, MACHINES[name], fcntl, 3, command, 0x2000) == 0
    for command in (8, 10, 15, 1024, 1026, 1031, 1040):
        assert verdict(program, MACHINES[name], fcntl, 3, command) == errno.EPERM
    for command in (6, 7, 37, 38):
        assert verdict(program, MACHINES[name], fcntl, 3, command) == errno.ENOLCK
    assert verdict(program, MACHINES[name], seccomp._LOCK[column], 3, 1) == errno.ENOLCK
    assert verdict(program, MACHINES[name], fcntl, 3, 4, 0x800) == 0, "not to be waited for"
    assert verdict(program, MACHINES[name], fcntl, 3, 4, 0x2800) == errno.EPERM, "a signal when there is something"
    size = seccomp._SET_SOCKET_OPTION[column]
    for option in (7, 8, 32, 33):
        assert verdict(program, MACHINES[name], size, 3, 1, option) == -1
        assert verdict(program, MACHINES[name], size, 3, 6, option) == 0, "another protocol's"
    assert verdict(program, MACHINES[name], size, 3, 1, 2) == 0
    close = seccomp._CLOSE_RANGE[column]
    assert verdict(program, MACHINES[name], close, 3, 99, 4) == 0
    assert verdict(program, MACHINES[name], close, 3, 99, 2) == errno.EPERM


@pytest.mark.parametrize(
    ("flags", "expected"),
    [(0x22, 0), (0x02, 0), (0x01, 0), (0x03, 0), (0x4022, 0), (0x21, 1), (0x8021, 1), (0x23, 1), (0x40022, 1)],
)
def test_memory_is_private_or_a_files(machine: tuple[int, str], flags: int, expected: int) -> None:
    column, name = machine
    for chosen in (SyscallFilter(), SyscallFilter(77)):
        found = verdict(chosen.program(name), MACHINES[name], seccomp._MAP[column], 0, 4096, 3, flags)
        assert found == (errno.EPERM if expected else 0)


def test_no_process_hides_from_the_watchdog(machine: tuple[int, str]) -> None:
    column, name = machine
    for chosen in (SyscallFilter(), SyscallFilter(77)):
        assert verdict(chosen.program(name), MACHINES[name], seccomp._PRCTL[column], 4, 0) == errno.EPERM
        assert verdict(chosen.program(name), MACHINES[name], seccomp._PRCTL[column], 3) == 0


def test_another_interface_of_the_machine_is_refused_whole() -> None:
    program = SyscallFilter().program("x86_64")
    assert verdict(program, 0x40000003, 3) == errno.EPERM, "32 bit programs"
    assert verdict(program, MACHINES["x86_64"], 0x40000000) == errno.EPERM, "x32 programs"
    assert SyscallFilter().program("sparc") == b"", "a machine whose numbers nobody looked up has no filter"


def test_the_numbers_are_the_kernels() -> None:
    """Against the headers of this system, where it has any."""
    for column, path in enumerate(
        ("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "/usr/include/asm-generic/unistd.h")
    ):
        if not Path(path).exists():
            continue
        text = Path(path).read_text()
        known = {name: int(number) for name, number in re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", text)}
        single = {"fcntl": seccomp._FCNTL, "setpriority": seccomp._SET_PRIORITY, "prctl": seccomp._PRCTL}
        single |= {"setsockopt": seccomp._SET_SOCKET_OPTION, "close_range": seccomp._CLOSE_RANGE}
        single |= {"mmap": seccomp._MAP, "flock": seccomp._LOCK}
        single |= {"clone": seccomp._CLONE, "socket": seccomp._SOCKET, "ioctl": seccomp._IOCTL}
        tables = (
            seccomp._REFUSED,
            seccomp._ABSENT,
            seccomp._IGNORED,
            seccomp._SIGNALS,
            seccomp._METADATA,
            seccomp._OF_A_PROCESS,
            single,
        )
        for name, numbers in (pair for table in tables for pair in table.items()):
            if name in known:
                assert known[name] == numbers[column], name
