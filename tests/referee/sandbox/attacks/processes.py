"""Looks for other processes, signals them, traces them, and reads their memory."""

import ctypes
import os
import signal
import sys
from pathlib import Path
from typing import Any

from attacker import error_of, run

TARGETS = [int(word) for word in sys.argv[1:]]
ATTACH, SEIZE = 16, 0x4206
_libc = ctypes.CDLL(None, use_errno=True)


def trace(request: int, pid: int) -> None:
    if _libc.ptrace(request, pid, None, None) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def peek(pid: int) -> None:
    buffer = ctypes.create_string_buffer(8)
    vector = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), 8)
    if _libc.process_vm_readv(pid, vector, 1, vector, 1, 0) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def pids() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def filter_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/status").read_text().partition("Seccomp:\t")[2][:1]
    except OSError:
        return "unseen"


def attack() -> dict[str, Any]:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    return {
        "seen": {pid: error_of(lambda pid=pid: Path(f"/proc/{pid}/cmdline").read_bytes()[:60]) for pid in pids()},
        "kill": {pid: error_of(lambda pid=pid: os.kill(pid, signal.SIGKILL)) for pid in TARGETS},
        "stop": {pid: error_of(lambda pid=pid: os.kill(pid, signal.SIGSTOP)) for pid in TARGETS},
        "kill first": error_of(lambda: os.kill(1, signal.SIGKILL)),
        "kill all": error_of(lambda: os.kill(-1, signal.SIGTERM)),
        "trace": {pid: error_of(lambda pid=pid: trace(ATTACH, pid)) for pid in [1, *TARGETS]},
        "seize": error_of(lambda: trace(SEIZE, 1)),
        "read memory": {pid: error_of(lambda pid=pid: peek(pid)) for pid in [1, *TARGETS]},
        "memory file": error_of(lambda: os.open("/proc/1/mem", os.O_RDWR)),
        "filter of the first": filter_of(1),
        "environment of the first": error_of(lambda: Path("/proc/1/environ").read_bytes()),
    }


run(attack)
