"""Asks the kernel for what it should not get: namespaces, mounts, keys, more of everything."""

import ctypes
import fcntl
import os
import resource
from pathlib import Path
from typing import Any

from attacker import error_of, run

_libc = ctypes.CDLL(None, use_errno=True)
NEW_USER, NEW_NET = 0x10000000, 0x40000000
CALLS = {
    "keyctl": (250, 0, -3, 0),
    "add_key": (248, b"user", b"x", b"y", 1, -3),
    "bpf": (321, 0, 0, 0),
    "perf_event_open": (298, 0, 0, -1, -1, 0),
    "userfaultfd": (323, 0),
    "io_uring_setup": (425, 1, 0),
    "memfd_create": (319, b"x", 0),
    "shmget": (29, 42, 4096, 0o1777),
    "msgget": (68, 42, 0o1777),
    "mq_open": (240, b"x", 0o102, 0o777, 0),
    "clone3": (435, 0, 0),
    "clone in a new user namespace": (56, NEW_USER | 17, 0, 0, 0, 0),
    "x32 getpid": (0x40000000 + 39,),
    "personality": (135, 0xFFFFFFFF),
    "open_by_handle_at": (304, 0, 0, 0),
    "reboot": (169, 0, 0, 0, 0),
    "settimeofday": (164, 0, 0),
}


def call(*words: Any) -> int:
    result = int(_libc.syscall(*words))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def check(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def raise_limit(kind: int) -> None:
    _, hard = resource.getrlimit(kind)
    try:
        resource.setrlimit(kind, (hard + 1, hard + 1))
    except ValueError as error:
        raise PermissionError(1, str(error)) from None


def attack() -> dict[str, Any]:
    before = len(os.sched_getaffinity(0))
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    status = dict(line.split(":\t", 1) for line in Path("/proc/self/status").read_text().splitlines() if ":\t" in line)
    return {
        "calls": {name: error_of(lambda words=words: call(*words)) for name, words in CALLS.items()},
        "unshare": error_of(lambda: check(_libc.unshare(NEW_USER))),
        "unshare network": error_of(lambda: check(_libc.unshare(NEW_NET))),
        "mount": error_of(lambda: check(_libc.mount(b"none", b"/tmp", b"tmpfs", 0, None))),
        "remount": error_of(lambda: check(_libc.mount(b"none", b"/", None, 0x1020, None))),
        "umount": error_of(lambda: check(_libc.umount2(b"/proc", 2))),
        "chroot": error_of(lambda: os.chroot("/tmp")),
        "become root": error_of(lambda: os.setuid(0)),
        "device": error_of(lambda: os.mknod("/tmp/sda", 0o60666, os.makedev(8, 0))),
        "terminal": error_of(lambda: fcntl.ioctl(0, 0x5412, b"x")),
        "faster": error_of(lambda: os.nice(-5)),
        "real time": error_of(lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))),
        "core pattern": error_of(lambda: Path("/proc/sys/kernel/core_pattern").write_text("|/bin/sh")),
        "sysrq": error_of(lambda: Path("/proc/sysrq-trigger").write_text("b")),
        "oom score": error_of(lambda: Path("/proc/self/oom_score_adj").write_text("-1000")),
        "host name": error_of(lambda: check(_libc.sethostname(b"mine", 4))),
        "limits": {
            name: error_of(lambda name=name: raise_limit(getattr(resource, f"RLIMIT_{name}")))
            for name in ("NPROC", "FSIZE", "NOFILE", "CPU", "DATA", "CORE")
        },
        "control groups": error_of(lambda: os.listdir("/sys/fs/cgroup")),
        "cores": [before, len(os.sched_getaffinity(0))],
        "capabilities": [status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")],
        "no new privileges": status["NoNewPrivs"],
        "filter": status["Seccomp"],
        "user": os.getuid(),
        "groups": os.getgroups(),
    }


run(attack)
