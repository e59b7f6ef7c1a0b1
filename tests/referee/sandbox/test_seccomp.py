"""The system call filter, run by a small interpreter: what it lets through, what it refuses, on both machines."""

from __future__ import annotations

import errno
import re
import struct
from pathlib import Path

import pytest

from referee.sandbox import syscalls
from referee.sandbox.seccomp import SyscallFilter

MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
COMMON = {"read": (0, 63), "write": (1, 64), "execve": (59, 221), "getpid": (39, 172), "futex": (202, 98)}


# Numbers on x86-64 and arm64, from the kernel's headers and not from the table that is tested.
REFUSED = {
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "chroot": (161, 51),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ioprio_set": (251, 30),
    "perf_event_open": (298, 241),
    "personality": (135, 92),
    "seccomp": (317, 277),
    "sched_setattr": (314, 274),
    "mlock": (149, 228),
    "fchownat": (260, 54),
    "sendmsg": (46, 211),
    "sendmmsg": (307, 269),
}
ABSENT = {
    "clone3": (435, 435),
    "io_uring_setup": (425, 425),
    "io_setup": (206, 0),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "landlock_create_ruleset": (444, 444),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424),
    "timer_create": (222, 107),
    "inotify_init1": (294, 26),
    "fanotify_init": (300, 262),
    "setxattr": (188, 5),
    "fsetxattr": (190, 7),
    "setxattrat": (463, 463),
    "shmget": (29, 194),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    "vmsplice": (278, 75),
    "splice": (275, 76),
    "tee": (276, 77),
    "add_key": (248, 217),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "process_madvise": (440, 440),
    "kcmp": (312, 272),
    "name_to_handle_at": (303, 264),
    "open_tree": (428, 428),
    "fsopen": (430, 430),
    "mount_setattr": (442, 442),
    "clock_settime": (227, 112),
    "adjtimex": (159, 171),
    "syslog": (103, 116),
    "reboot": (169, 142),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    "signalfd4": (289, 74),
}
IGNORED = {
    "sched_setaffinity": (203, 122),
    "setsid": (112, 157),
    "setpgid": (109, 154),
}


def all_tables(*, with_absent: bool = False) -> list[dict[str, tuple[int, int]]]:
    """The tables of calls that the filter names."""
    tables = [*(group.calls for group in syscalls.GROUPS), syscalls.CLOCKS, syscalls.CONNECTIONS, syscalls.METADATA]
    tables += [syscalls.ABSENT] if with_absent else []
    return [*tables, syscalls.REFUSED, syscalls.IGNORED, syscalls.OF_A_PROCESS, syscalls.SIGNALS, syscalls.CHECKED]


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
    clone = syscalls.CHECKED["clone"][column]
    assert verdict(program, MACHINES[name], clone, 17) == 0
    assert verdict(program, MACHINES[name], clone, 0x3D0F00) == 0, "a thread"
    assert verdict(program, MACHINES[name], clone, 0x3D0B00) == errno.EPERM, "a thread with open files of its own"
    for flag in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000, 0x80):
        assert verdict(program, MACHINES[name], clone, 17 | flag) == errno.EPERM


def test_what_is_not_listed_is_refused(machine: tuple[int, str]) -> None:
    """Whatever a kernel will have: of a thousand numbers those pass that a table of the filter names."""
    column, name = machine
    named = [numbers[column] for calls in all_tables() for numbers in calls.values() if numbers[column] >= 0]
    assert len(named) == len(set(named)), "each call is in one table"
    for chosen in (SyscallFilter(), SyscallFilter(77), SyscallFilter(77, allows_signals=False)):
        program = chosen.program(name)
        for number in set(range(1000)) - set(named):
            assert verdict(program, MACHINES[name], number) == errno.ENOSYS


def test_refusals_are_reported_or_answered_as_before(machine: tuple[int, str]) -> None:
    """The filter of a recorded bot lets through nothing that the other one refuses."""
    _, name = machine
    for chosen in (SyscallFilter(), SyscallFilter(77), SyscallFilter(has_network=True)):
        plain, reporting = chosen.program(name), chosen.reporting_program(name)
        returns = {struct.unpack_from("=HBBI", plain, place)[3] for place in range(0, len(plain), 8)}
        for place in range(0, len(plain), 8):
            before, after = plain[place : place + 8], reporting[place : place + 8]
            if before != after:
                assert struct.unpack("=HBBI", before) in (
                    (6, 0, 0, ERRNO | errno.EPERM),
                    (6, 0, 0, ERRNO | errno.ENOSYS),
                )
                assert struct.unpack("=HBBI", after) == (6, 0, 0, 0x7FC00000)
        assert ERRNO | errno.ENOSYS in returns
    known, absent = syscalls.call_names(name)
    assert not (known.keys() & absent.keys()) - {-1}
    assert {known.get(numbers[machine[0]]) for numbers in COMMON.values()} == set(COMMON)


def test_clocks_are_everybodys_or_its_own(machine: tuple[int, str]) -> None:
    column, name = machine
    program = SyscallFilter().program(name)
    for numbers in syscalls.CLOCKS.values():
        for clock in (0, 1, 2, 3, 7, 11, -6 & 0xFFFFFFFF, -2 & 0xFFFFFFFF, (~77 << 3 | 6) & 0xFFFFFFFF):
            assert verdict(program, MACHINES[name], numbers[column], clock) == 0
        for pid in (1, 77, 2**22):
            assert verdict(program, MACHINES[name], numbers[column], (~pid << 3 | 2) & 0xFFFFFFFF) == errno.EINVAL


def test_documentation_has_the_groups_with_their_reasons() -> None:
    text = Path("docs/explanation/sandbox.md").read_text()
    for group in syscalls.GROUPS:
        assert f"| {group.name} | {group.reason} |" in text


def test_sockets_by_family_type_and_protocol(machine: tuple[int, str]) -> None:
    column, name = machine
    number, pair = syscalls.CHECKED["socket"][column], syscalls.CHECKED["socketpair"][column]
    inside, outside = SyscallFilter(has_network=True).program(name), SyscallFilter(77, has_network=True).program(name)
    for family in range(50):
        expected = 0 if family in (2, 10) else errno.EAFNOSUPPORT
        assert verdict(inside, MACHINES[name], number, family, 0x80801) == expected
        for refusing in (outside, SyscallFilter().program(name)):
            assert verdict(refusing, MACHINES[name], number, family, 1) == errno.EACCES
        expected = 0 if family == 1 else errno.EAFNOSUPPORT
        assert verdict(outside, MACHINES[name], pair, family, 0x80001) == expected
    for kind in (2, 3, 5):
        assert verdict(inside, MACHINES[name], number, 2, kind) == errno.EACCES
        assert verdict(inside, MACHINES[name], pair, 1, kind) == errno.EPERM
    assert verdict(inside, MACHINES[name], number, 2, 1, 6) == 0
    assert verdict(inside, MACHINES[name], number, 2, 1, 262) == errno.EPROTONOSUPPORT
    for numbers in syscalls.CONNECTIONS.values():
        assert verdict(inside, MACHINES[name], numbers[column], 3) == 0
        assert verdict(outside, MACHINES[name], numbers[column], 3) == errno.ENOSYS


def test_terminals_signals_and_modes(machine: tuple[int, str]) -> None:
    column, name = machine
    program = SyscallFilter().program(name)
    for request in (0x5401, 0x5413, 0x541B, 0x5421):
        assert verdict(program, MACHINES[name], syscalls.CHECKED["ioctl"][column], 0, request) == 0
    for request in (0x5412, 0x541C, 0x5452, 0x8901, 0x8902):
        assert verdict(program, MACHINES[name], syscalls.CHECKED["ioctl"][column], 0, request) == errno.ENOTTY
    scoped, alone = SyscallFilter(77).program(name), SyscallFilter(77, allows_signals=False).program(name)
    for numbers in syscalls.SIGNALS.values():
        assert verdict(program, MACHINES[name], numbers[column], 1, 9) == 0
        assert verdict(scoped, MACHINES[name], numbers[column], 1, 9) == 0, "Landlock sees to that"
        assert verdict(alone, MACHINES[name], numbers[column], 77, 6) == 0
        assert verdict(alone, MACHINES[name], numbers[column], 0, 6) == 0, "its own group"
        for pid in (1, 76, 78, 0xFFFFFFFF):
            assert verdict(alone, MACHINES[name], numbers[column], pid, 9) == errno.EPERM
    for numbers in syscalls.METADATA.values():
        if numbers[column] < 0:
            continue
        assert verdict(program, MACHINES[name], numbers[column]) == 0
        assert verdict(alone, MACHINES[name], numbers[column]) == errno.EPERM


def test_without_namespaces_nobody_else_is_named(machine: tuple[int, str]) -> None:
    column, name = machine
    inside, outside = SyscallFilter().program(name), SyscallFilter(77).program(name)
    assert {"prlimit64", "sched_setscheduler", "sched_setparam", "getpgid", "getsid"} <= set(syscalls.OF_A_PROCESS)
    for numbers in syscalls.OF_A_PROCESS.values():
        assert verdict(inside, MACHINES[name], numbers[column], 1234) == 0, "there it is one of its own"
        assert {verdict(outside, MACHINES[name], numbers[column], pid) for pid in (0, 77)} == {0}
        for pid in (1, 76, 78, 0xFFFFFFFF):
            assert verdict(outside, MACHINES[name], numbers[column], pid) == errno.EPERM
    process, group, user = 0, 1, 2
    set_priority, prctl = syscalls.CHECKED["setpriority"][column], syscalls.CHECKED["prctl"][column]
    assert verdict(outside, MACHINES[name], set_priority, process, 0) == 0
    assert verdict(outside, MACHINES[name], set_priority, process, 77) == 0
    for target in ((process, 78), (group, 0), (user, 0), (user, 77)):
        assert verdict(outside, MACHINES[name], set_priority, *target) == errno.EPERM
    for option in (4, 22, 36, 41, 62, 67, 0x53564D41, 0x59616D61):
        for program in (inside, outside):
            assert verdict(program, MACHINES[name], prctl, option, 1) == errno.EINVAL
    assert verdict(outside, MACHINES[name], prctl, 1, 9) == 0


def test_files_send_no_signals_and_hold_no_more_than_they_do(machine: tuple[int, str]) -> None:
    column, name = machine
    program = SyscallFilter().program(name)
    fcntl = syscalls.CHECKED["fcntl"][column]
    owner, lease, copy, pipe, seals, hints = (9, 11, 16), (1025, 1027), 1030, 1032, 1034, (1035, 1036, 1037, 1038)
    for command in (0, 1, 2, 3, 5, 36, *owner, *lease, copy, pipe, seals, *hints):
        assert verdict(program, MACHINES[name], fcntl, 3, command, 0x2000) == 0
    for command in (8, 10, 15, 1024, 1026, 1031, 1040):
        assert verdict(program, MACHINES[name], fcntl, 3, command) == errno.EPERM
    for command in (6, 7, 37, 38):
        assert verdict(program, MACHINES[name], fcntl, 3, command) == errno.ENOLCK
    assert verdict(program, MACHINES[name], syscalls.CHECKED["flock"][column], 3, 1) == errno.ENOLCK
    assert verdict(program, MACHINES[name], fcntl, 3, 4, 0x800) == 0, "not to be waited for"
    assert verdict(program, MACHINES[name], fcntl, 3, 4, 0x2800) == errno.EPERM, "a signal when there is something"
    size = syscalls.CHECKED["setsockopt"][column]
    for option in (7, 8, 32, 33):
        assert verdict(program, MACHINES[name], size, 3, 1, option) == -1
        assert verdict(program, MACHINES[name], size, 3, 6, option) == errno.ENOPROTOOPT, "another protocol's"
    for level, option in ((1, 2), (1, 20), (6, 1), (41, 26)):
        assert verdict(program, MACHINES[name], size, 3, level, option) == 0
    zero_copy, upper_layer, filters = (1, 60), (6, 31), (1, 26)
    for level, option in (zero_copy, upper_layer, filters, (0, 1)):
        assert verdict(program, MACHINES[name], size, 3, level, option) == errno.ENOPROTOOPT
    advise = syscalls.CHECKED["madvise"][column]
    assert [verdict(program, MACHINES[name], advise, 0, 4096, advice) for advice in (4, 14, 12, 25)] == [
        *(0, 0, errno.EINVAL, errno.EINVAL)
    ]
    close = syscalls.CHECKED["close_range"][column]
    assert verdict(program, MACHINES[name], close, 3, 99, 4) == 0
    assert verdict(program, MACHINES[name], close, 3, 99, 2) == errno.EPERM


@pytest.mark.parametrize(
    ("flags", "expected"),
    [(0x22, 0), (0x02, 0), (0x01, 0), (0x03, 0), (0x4022, 0), (0x21, 1), (0x8021, 1), (0x23, 1), (0x40022, 1)],
)
def test_memory_is_private_or_a_files(machine: tuple[int, str], flags: int, expected: int) -> None:
    column, name = machine
    for chosen in (SyscallFilter(), SyscallFilter(77)):
        found = verdict(chosen.program(name), MACHINES[name], syscalls.CHECKED["mmap"][column], 0, 4096, 3, flags)
        assert found == (errno.EPERM if expected else 0)


def test_no_process_hides_from_the_watchdog(machine: tuple[int, str]) -> None:
    column, name = machine
    for chosen in (SyscallFilter(), SyscallFilter(77)):
        assert verdict(chosen.program(name), MACHINES[name], syscalls.CHECKED["prctl"][column], 4, 0) == errno.EINVAL
        assert verdict(chosen.program(name), MACHINES[name], syscalls.CHECKED["prctl"][column], 3) == 0


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
        only_on_some = {"stat", "lstat"}  # 64-bit machines with the new numbers have no call of this name
        for calls in all_tables(with_absent=True):
            for name, numbers in calls.items():
                if name in known and not (column and name in only_on_some):
                    assert known[name] == numbers[column], name
