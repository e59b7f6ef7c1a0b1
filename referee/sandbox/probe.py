"""A stand-alone program that attacks from inside a sandbox and reports the attacks that succeeded.

    probe.py attack PORT FILE PROCESSES PIDS
    probe.py sibling

The attack prints one line of JSON: `user`, `connected` (to PORT of this machine), `wrote` (FILE), `reached` (attacks
that worked on the processes PIDS of another bot), `children` (how many of twice PROCESSES it could start). The sibling
is that other bot: for every line of input it prints the properties that other processes could change, and the signals
that it received.
"""

import contextlib
import ctypes
import fcntl
import json
import os
import platform
import resource
import signal
import socket
import struct
import sys
from collections.abc import Callable, Iterator

_COLUMN = 1 if platform.machine() == "aarch64" else 0
_SET_ATTRIBUTES, _SET_IO_PRIORITY = (314, 274)[_COLUMN], (251, 30)[_COLUMN]
_SEIZE = 0x4206
"""PTRACE_SEIZE, which does not stop the other process as PTRACE_ATTACH would."""
_OWN, _ASYNC = 0x8901, 0x5452
"""FIOSETOWN and FIOASYNC: the process that the kernel signals when a descriptor becomes ready."""
_CALL_SIGN = signal.SIGUSR1

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int) -> None:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


# -- the other bot -------------------------------------------------------------------------------------------------


def be_attacked() -> None:
    """Print the properties that an attack would change, once per line of input."""
    got: list[int] = []
    for number in range(1, signal.NSIG):
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, lambda number, _: got.append(number))
    for _ in sys.stdin:
        state = {
            "priority": os.getpriority(os.PRIO_PROCESS, 0),
            "policy": os.sched_getscheduler(0),
            "cores": sorted(os.sched_getaffinity(0)),
            "limits": [resource.getrlimit(number) for number in range(resource.RLIMIT_RTPRIO + 1)],
            "signals": got,
        }
        print(json.dumps(state), flush=True)


# -- the attack ----------------------------------------------------------------------------------------------------


def _read_memory(pid: int) -> None:
    buffer = ctypes.create_string_buffer(8)
    vector = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), 8)
    _check(_libc.process_vm_readv(pid, vector, 1, vector, 1, 0))


def _signal_by_pipe(pid: int) -> None:
    reader, writer = os.pipe()
    fcntl.fcntl(reader, fcntl.F_SETOWN, pid)
    fcntl.fcntl(reader, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    os.write(writer, b"x")


def _signal_by_socket(pid: int) -> None:
    ours, theirs = socket.socketpair()
    fcntl.ioctl(ours, _OWN, struct.pack("i", pid))
    fcntl.ioctl(ours, _ASYNC, struct.pack("i", 1))
    theirs.send(b"x")


def _look_into(pid: int) -> None:
    with open(f"/proc/{pid}/environ", "rb") as file:
        file.read()


_ATTRIBUTES = struct.pack("=IIQiIQQQ", 48, 3, 0, 19, 0, 0, 0, 0)  # nice 19: the kernel refuses a lower nice value
_ATTACKS: dict[str, Callable[[int], object]] = {
    "prlimit64": lambda pid: resource.prlimit(pid, resource.RLIMIT_CPU, (3600, 3600)),
    "setpriority": lambda pid: os.setpriority(os.PRIO_PROCESS, pid, 19),
    "sched_setscheduler": lambda pid: os.sched_setscheduler(pid, os.SCHED_BATCH, os.sched_param(0)),
    "sched_setparam": lambda pid: os.sched_setparam(pid, os.sched_param(0)),
    "sched_setattr": lambda pid: _check(_libc.syscall(_SET_ATTRIBUTES, pid, _ATTRIBUTES, 0)),
    # IOPRIO_WHO_PROCESS, and the idle class, which needs no privilege.
    "ioprio_set": lambda pid: _check(_libc.syscall(_SET_IO_PRIORITY, 1, pid, 3 << 13)),
    "getsid": os.getsid,
    "pidfd_open": os.pidfd_open,
    "ptrace": lambda pid: _check(_libc.ptrace(_SEIZE, pid, None, None)),
    "process_vm_readv": _read_memory,
    "/proc": _look_into,
    "kill": lambda pid: os.kill(pid, _CALL_SIGN),
    "tgkill": lambda pid: _check(_libc.tgkill(pid, pid, _CALL_SIGN)),
    "sigqueue": lambda pid: _check(_libc.sigqueue(pid, _CALL_SIGN, None)),
    "pidfd_send_signal": lambda pid: signal.pidfd_send_signal(os.pidfd_open(pid), _CALL_SIGN),
}
"""Attacks that harm another process or read its data. Each raises an error if it is refused."""
_TRACELESS: tuple[Callable[[int], object], ...] = (
    # Only the sibling shows whether these attacks worked: some calls report success even if they have no effect.
    _signal_by_pipe,
    _signal_by_socket,
    lambda pid: os.sched_setaffinity(pid, {min(os.sched_getaffinity(0))}),
)


def _reached(pids: list[int]) -> Iterator[str]:
    for pid in pids:
        for hurt in _TRACELESS:
            with contextlib.suppress(OSError):
                hurt(pid)
        for name, attack in _ATTACKS.items():
            with contextlib.suppress(OSError, AttributeError):
                attack(pid)
                yield name


def _fork_often(times: int) -> int:
    """Return how many children can exist at a time. They end by themselves: some sandboxes forbid all signals."""
    reader, writer = os.pipe()
    for number in range(times):
        try:
            child = os.fork()
        except OSError:
            return number
        if not child:
            os.close(writer)
            os.read(reader, 1)
            os._exit(0)
    return times


def attack(port: int, path: str, processes: int, pids: list[int]) -> None:
    """Try all attacks and print the results as one line of JSON."""
    results = {"user": os.getuid(), "connected": False, "wrote": False}
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        results["connected"] = True
    with contextlib.suppress(OSError), open(path, "w", encoding="ascii") as file:
        file.write("here")
        results["wrote"] = True
    print(json.dumps({**results, "reached": [*_reached(pids)], "children": _fork_often(2 * processes)}), flush=True)


if sys.argv[1] == "sibling":
    be_attacked()
else:
    attack(int(sys.argv[2]), sys.argv[3], int(sys.argv[4]), [int(pid) for pid in sys.argv[5].split(",") if pid])
