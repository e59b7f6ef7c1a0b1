"""A stand-alone program that starts a bot in a confined child process and kills the bot's whole tree at the end.

    launcher.py PLAN COMMAND...

The child drops the rights that the plan names, then becomes the bot. The parent supervises. When the bot ends or the
referee dies, the parent kills all processes that the bot left, and ends as the bot did. A death signal is not enough:
it would reach the bot, but none of its children.

This program is started for every bot, so it imports little, and only from the standard library. `PLAN` is JSON; only
`referee` is required:

- `referee`: the id of the referee's process, which must be the parent of this process
- `groups`: the `cgroup.procs` files of the control groups to enter
- `bounds`: resource limits by name
- `version` of Landlock, `shown` and `written` paths
- `user`: the user id to change to
- `reads_all`: whether that user may open every file it can see, regardless of the owner
- `is_locked`: whether privileges can never be gained again
- `filter` (hexadecimal BPF), `pid_mark` (the number in `filter` that stands for the bot's process id)

The exit code is 125 if a right could not be dropped.

Landlock is described in landlock(7), the system calls in prctl(2) and capset(2); the numbers are those of
linux/landlock.h, linux/prctl.h and linux/capability.h.
"""

import ctypes
import json
import os
import resource
import select
import signal
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
"""All file rights, by the Landlock version that introduced the last of them."""
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | 1 << 14 | IOCTL_DEVICE
"""Rights that a rule about a path other than a folder may contain."""
NET_RIGHTS = 3
SCOPES = 3
"""Restrict abstract sockets and signals to the bot's own processes."""

SET_DEATH_SIGNAL, KEEP_CAPABILITIES, SET_SECCOMP, DROP_BOUND, SET_SUBREAPER = 1, 8, 22, 24, 36
SET_NO_NEW_PRIVILEGES, AMBIENT, RAISE = 38, 47, 2
FILTER_MODE = 2
DAC_OVERRIDE = 1
"""Capability to open files regardless of their owner and mode."""
CAPABILITIES_VERSION, LAST_CAPABILITY = 0x20080522, 63

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")
    return result


def landlock_version() -> int:
    """Return the Landlock version of this kernel; 0 for none."""
    return max(0, int(_libc.syscall(CREATE_RULESET, None, 0, GET_VERSION)))


def restrict_files(version: int, shown: list[str], written: list[str]) -> None:
    """Limit this process for good: read and run only `shown`, write only `written`, no TCP, no signals to other bots.

    Version 3 of Landlock restricts neither TCP nor signals, versions 4 and 5 do not restrict signals.
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


def own_entries() -> list[str]:
    """List the paths below /proc/self that a bot may read. `net` and `task` are excluded, since they show the
    connections of the whole machine. Links are excluded too, since a rule would hold for their targets.
    """
    paths = [os.path.join("/proc/self", name) for name in os.listdir("/proc/self") if name not in ("net", "task")]
    return [path for path in paths if not os.path.islink(path)]


def load_filter(program: bytes) -> None:
    """Load a BPF program that filters system calls."""
    buffer = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer))
    _check(_libc.prctl(SET_SECCOMP, FILTER_MODE, header, 0, 0), "seccomp")


def become(user: int, reads_all: bool) -> None:
    """Change to the user id `user` without capabilities; `reads_all` keeps the capability to open any file."""
    for number in range(LAST_CAPABILITY + 1):
        if not (reads_all and number == DAC_OVERRIDE):
            _libc.prctl(DROP_BOUND, number, 0, 0, 0)  # only a second barrier after no_new_privs, so it may fail
    if reads_all:
        _check(_libc.prctl(KEEP_CAPABILITIES, 1, 0, 0, 0), "keep capabilities")
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    if reads_all:
        bit = 1 << DAC_OVERRIDE
        _check(
            _libc.capset(struct.pack("=Ii", CAPABILITIES_VERSION, 0), struct.pack("=6I", *[bit] * 3, 0, 0, 0)), "capset"
        )
        _check(_libc.prctl(AMBIENT, RAISE, DAC_OVERRIDE, 0, 0), "ambient capability")


def confine(plan: dict, supervisor: int) -> None:  # type: ignore[type-arg]
    """Restrict this process as the plan says. Raises OSError."""
    for path in plan.get("groups", ()):
        with open(path, "w", encoding="ascii") as file:
            file.write("0")
    for name, bound in plan.get("bounds", {}).items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (bound, bound))
    if plan.get("is_locked"):
        _check(_libc.prctl(SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0), "no_new_privs")
    if plan.get("version"):
        shown = [*plan["shown"], *own_entries(), "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/sys/vm"]
        restrict_files(plan["version"], shown, plan["written"])
    if plan.get("user") is not None:
        become(plan["user"], plan.get("reads_all", False))
    _check(_libc.prctl(SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0), "death signal")
    if os.getppid() != supervisor:
        raise OSError("the supervisor has ended")
    if plan.get("filter"):
        program = bytes.fromhex(plan["filter"])
        if plan.get("pid_mark"):
            program = program.replace(struct.pack("=I", plan["pid_mark"]), struct.pack("=I", os.getpid()))
        load_filter(program)


def become_bot(plan: dict, command: list[str], supervisor: int) -> None:  # type: ignore[type-arg]
    """Drop the rights of this process, then execute the command in it. Exits if either fails."""
    os.setsid()  # a signal of the bot to its process group must not end its supervisor
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and exec keeps ignored signals ignored
        signal.signal(number, signal.SIG_DFL)
    if os.sep not in command[0]:
        os.get_exec_path()  # imports a module now: the bot's user may not be able to read its file
    try:
        confine(plan, supervisor)
    except (OSError, ValueError) as error:
        print(f"sandbox: {error}", file=sys.stderr, flush=True)
        os._exit(125)
    try:
        os.execvp(command[0], command)  # noqa: S606 - runs without a shell
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr, flush=True)
        os._exit(127)


def supervise(bot: int, referee: int, wake: int) -> int:
    """Wait until the bot or the referee ends, and reap orphans. Return the bot's wait status; -1 if there is none."""
    poll = select.poll()
    poll.register(referee, select.POLLIN)
    poll.register(wake, select.POLLIN)
    while True:
        for descriptor, _ in poll.poll():
            if descriptor == referee:
                return -1
            os.read(wake, 4096)
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return -1
            if pid == bot:
                return status
            if pid == 0:
                break


def end_others() -> None:
    """Kill and reap the processes that the bot left."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return
    # Import the module `reaper` from this folder, not from the package, which would import half of the arena.
    sys.path.append(os.path.dirname(os.path.abspath(__file__)))
    __import__("reaper").sweep(set())


def end_as(status: int) -> None:
    """End this process as the bot ended: with the same exit code, or by the same signal."""
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if -code not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


def main() -> None:
    """Start the bot, supervise it, and kill everything it leaves."""
    plan, command = json.loads(sys.argv[1]), sys.argv[2:]
    # When the referee dies, SIGCONT wakes a stopped supervisor, which then kills the bot.
    _check(_libc.prctl(SET_DEATH_SIGNAL, signal.SIGCONT, 0, 0, 0), "death signal")
    _check(_libc.prctl(SET_SUBREAPER, 1, 0, 0, 0), "subreaper")
    referee = os.pidfd_open(plan["referee"])
    if os.getppid() != plan["referee"]:
        os._exit(125)
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    supervisor, bot = os.getpid(), os.fork()
    if bot == 0:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        become_bot(plan, command, supervisor)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):  # only the bot may hold the pipes, so that the referee sees them close
        os.dup2(nothing, descriptor)
    status = supervise(bot, referee, reader)
    end_others()
    if status < 0:
        os._exit(125)
    end_as(status)


if __name__ == "__main__":
    main()
