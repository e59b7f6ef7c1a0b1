"""A small program of its own: takes everything away from itself that a plan says, then becomes the bot.

    launcher.py PLAN COMMAND...

It is started anew for every bot with nothing but the standard library, so it imports as little as it can. `PLAN` is
JSON: `version` of Landlock, `shown` and `written` paths, `user` or null, `bounds` (resource limits by name), `filter`
(hexadecimal BPF), `pid_mark` (the number in it that stands for this process). Exits with 125 when anything could not be
taken away.

Landlock is described in landlock(7); the numbers are those of linux/landlock.h.
"""

import ctypes
import json
import os
import resource
import struct
import sys

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
GET_VERSION = 1
PATH_BENEATH = 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
READ = EXECUTE | READ_FILE | READ_DIR
WRITE = WRITE_FILE | READ_FILE
IOCTL_DEVICE = 1 << 15
FILE_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
"""All rights over files, by the version that knows them."""
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | 1 << 14 | IOCTL_DEVICE
"""The rights that a rule about something other than a folder may name."""
NET_RIGHTS = 3
SCOPES = 3
"""Abstract sockets and signals stay among the bot's own processes."""

SET_DEATH_SIGNAL, SET_SECCOMP, SET_NO_NEW_PRIVILEGES = 1, 22, 38
FILTER_MODE = 2
SIGKILL = 9

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")
    return result


def landlock_version() -> int:
    """The version of Landlock this kernel offers; 0 for none."""
    return max(0, int(_libc.syscall(CREATE_RULESET, None, 0, GET_VERSION)))


def restrict_files(version: int, shown: list[str], written: list[str]) -> None:
    """From now on only these paths may be read and executed, those written to; no TCP, no foreign signals.

    As far as that version of Landlock goes: 3 knows neither TCP nor signals, 4 and 5 no signals.
    """
    rights = FILE_RIGHTS[max(known for known in FILE_RIGHTS if known <= version)]
    attributes = struct.pack("=QQQ", rights, NET_RIGHTS if version >= 4 else 0, SCOPES if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    rules = _check(_libc.syscall(CREATE_RULESET, attributes, size, 0), "landlock_create_ruleset")
    for paths, wanted in ((shown, READ), (written, WRITE | IOCTL_DEVICE)):
        for path in paths:
            try:
                descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except FileNotFoundError:
                continue
            allowed = wanted & rights if os.path.isdir(path) else wanted & rights & OF_FILES
            beneath = struct.pack("=Qi", allowed, descriptor)
            _check(_libc.syscall(ADD_RULE, rules, PATH_BENEATH, beneath, 0), f"landlock_add_rule {path}")
            os.close(descriptor)
    _check(_libc.syscall(RESTRICT_SELF, rules, 0), "landlock_restrict_self")
    os.close(rules)


def load_filter(program: bytes) -> None:
    """Load a BPF program over system calls."""
    buffer = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer))
    _check(_libc.prctl(SET_SECCOMP, FILTER_MODE, header, 0, 0), "seccomp")


def confine(plan: dict) -> None:  # type: ignore[type-arg]
    """Take everything away that the plan says. Raises OSError."""
    parent = os.getppid()
    for name, bound in plan["bounds"].items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (bound, bound))
    _check(_libc.prctl(SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0), "no_new_privs")
    # A process sees its own entry of /proc, and nobody else's.
    shown = [*plan["shown"], "/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/sys/vm"]
    restrict_files(plan["version"], shown, plan["written"])
    if plan["user"] is not None:
        os.setgroups([])
        os.setresgid(plan["user"], plan["user"], plan["user"])
        os.setresuid(plan["user"], plan["user"], plan["user"])
    _check(_libc.prctl(SET_DEATH_SIGNAL, SIGKILL, 0, 0, 0), "death signal")
    if os.getppid() != parent:
        raise OSError("the referee is gone")
    if plan["filter"]:
        mark = struct.pack("=I", plan["pid_mark"])
        load_filter(bytes.fromhex(plan["filter"]).replace(mark, struct.pack("=I", os.getpid())))


def main() -> None:
    """Confine this process, then become the bot."""
    try:
        confine(json.loads(sys.argv[1]))
    except (OSError, ValueError) as error:
        print(f"sandbox: {error}", file=sys.stderr)
        sys.exit(125)
    try:
        os.execvp(sys.argv[2], sys.argv[2:])  # noqa: S606 - there is no shell in this
    except OSError as error:
        print(f"{sys.argv[2]}: {error.strerror}", file=sys.stderr)
        sys.exit(127)


if __name__ == "__main__":
    main()
