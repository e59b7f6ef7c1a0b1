"""A stand-alone program that starts a bot in a confined child process and kills the bot's whole tree at the end.

    launcher.py PLAN COMMAND...
    launcher.py --record PLAN COMMAND...

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

With `--record`, this program runs inside a sandbox that has no filter yet. It loads `filter` for the bot, refuses the
calls that the filter reports, and names them on standard error. That plan has the calls' names
by number: `known` calls are refused by EPERM, `absent` and unnamed ones by ENOSYS.

The exit code is 125 if a right could not be dropped, if the referee has ended, or if there is no bot to wait for.

Landlock is described in landlock(7), the system calls in prctl(2) and capset(2); the numbers are those of
linux/landlock.h, linux/prctl.h and linux/capability.h.
"""

import ctypes
import errno
import fcntl
import json
import os
import resource
import select
import signal
import struct
import sys

TYPE_CHECKING = False  # importing the module `typing` would delay the start of every bot by milliseconds
if TYPE_CHECKING:
    from typing import NoReturn

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
GET_VERSION = 1
PATH_BENEATH = 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
READ = EXECUTE | READ_FILE | READ_DIR
WRITE = WRITE_FILE | READ_FILE
IOCTL_DEVICE = 1 << 15
FILE_RIGHTS = {3: (1 << 15) - 1, 5: (1 << 16) - 1}
"""All file rights, by the Landlock version that introduced the last of them; `landlock.MIN_VERSION` is the first."""
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | 1 << 14 | IOCTL_DEVICE
"""Rights that a rule about a path other than a folder may contain."""
NET_RIGHTS = 3
SCOPES = 3
"""Restrict abstract sockets and signals to the bot's own processes."""

SET_DEATH_SIGNAL, KEEP_CAPABILITIES, SET_SECCOMP, DROP_BOUND, SET_SUBREAPER = 1, 8, 22, 24, 36
SET_NO_NEW_PRIVILEGES, AMBIENT, RAISE = 38, 47, 2
FILTER_MODE = 2
SET_DUMPABLE = 4
SECCOMP_CALL, GET_DESCRIPTOR_CALL = (317, 277)[os.uname().machine == "aarch64"], 438
"""Numbers of seccomp and pidfd_getfd. Python and older C libraries have no functions for them."""
SET_FILTER, NEW_LISTENER = 1, 8
RECEIVE_REPORT, SEND_ANSWER = 0xC0502100, 0xC0182101
REPORT_BYTES = 80
SET_TRACER = 0x59616D61
REPORT_LINE = "sandbox: refused the system call "
"""Begins a line on the standard error of a recorded bot, for each call that is not the one before."""
REPORTED_CALLS = 200
"""Maximum of these lines: a program may try refused calls in turn without end."""
DAC_OVERRIDE = 1
"""Capability to open files regardless of their owner and mode."""
CAPABILITIES_VERSION, LAST_CAPABILITY = 0x20080522, 63
"""Sets of capabilities have 64 bits; kernels know about 40 capabilities and refuse to drop the others."""

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
    # A newer kernel still supports every older version, so the newest one known here is used.
    rights = FILE_RIGHTS[max(known for known in FILE_RIGHTS if known <= version)]
    attributes = struct.pack("=QQQ", rights, NET_RIGHTS if version >= 4 else 0, SCOPES if version >= 6 else 0)
    # The structure grew with these versions; a kernel refuses (E2BIG) a longer one than its own unless the rest is 0.
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    rules = _check(_libc.syscall(CREATE_RULESET, attributes, size, 0), "landlock_create_ruleset")
    # Writable paths are devices: since version 5 a program needs a right of its own for their ioctl requests.
    for paths, wanted in ((shown, READ), (written, WRITE | IOCTL_DEVICE)):
        for path in paths:
            try:
                # O_PATH needs no right to read the file.
                descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
            # A file may be removed while the bot is starting, and some kernels lack files of /proc.
            except FileNotFoundError:
                continue
            allowed = wanted & rights if os.path.isdir(path) else wanted & rights & OF_FILES
            # The kernel's structure is packed: 12 bytes.
            beneath = struct.pack("=Qi", allowed, descriptor)
            _check(_libc.syscall(ADD_RULE, rules, PATH_BENEATH, beneath, 0), f"landlock_add_rule {path}")
            os.close(descriptor)
    _check(_libc.syscall(RESTRICT_SELF, rules, 0), "landlock_restrict_self")
    os.close(rules)


def own_entries() -> list[str]:
    """List the paths below /proc/self that a bot may read. `net` and `task` are excluded, since they show the
    connections of the whole machine, and so are its mounts. Links are excluded too, since a rule would hold for their
    targets.
    """
    hidden = ("net", "task", "mounts", "mountinfo", "mountstats")
    paths = [os.path.join("/proc/self", name) for name in os.listdir("/proc/self") if name not in hidden]
    return [path for path in paths if not os.path.islink(path)]


def load_filter(plan: dict, *, listens: bool = False) -> int:  # type: ignore[type-arg]
    """Load the plan's BPF program that filters system calls; if it `listens`, return the descriptor of its reports."""
    program = bytes.fromhex(plan["filter"])
    if plan.get("pid_mark"):
        # The bot's process id is known only after the fork, long after the filter was built.
        program = program.replace(struct.pack("=I", plan["pid_mark"]), struct.pack("=I", os.getpid()))
    buffer = ctypes.create_string_buffer(program, len(program))
    # struct sock_fprog: the number of operations (of 8 bytes each), then a pointer on an 8-byte boundary.
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer))
    if listens:
        # prctl(2) cannot return the descriptor of a listener.
        return _check(_libc.syscall(SECCOMP_CALL, SET_FILTER, NEW_LISTENER, header), "seccomp")
    return _check(_libc.prctl(SET_SECCOMP, FILTER_MODE, header, 0, 0), "seccomp")


def become(user: int, reads_all: bool) -> None:
    """Change to the user id `user` without capabilities; `reads_all` keeps the capability to open any file."""
    for number in range(LAST_CAPABILITY + 1):
        if not (reads_all and number == DAC_OVERRIDE):
            _libc.prctl(DROP_BOUND, number, 0, 0, 0)  # only a second barrier after no_new_privs, so it may fail
    if reads_all:
        _check(_libc.prctl(KEEP_CAPABILITIES, 1, 0, 0, 0), "keep capabilities")
    # The groups first: after the change of user, this process may no longer change them.
    os.setgroups([])
    os.setresgid(user, user, user)
    # A change from root clears the effective capabilities, and without KEEP_CAPABILITIES the permitted ones too.
    os.setresuid(user, user, user)
    if reads_all:
        bit = 1 << DAC_OVERRIDE
        _check(
            # The low halves of the effective, permitted and inheritable sets come before the high ones.
            _libc.capset(struct.pack("=Ii", CAPABILITIES_VERSION, 0), struct.pack("=6I", *[bit] * 3, 0, 0, 0)),
            "capset",
        )
        # Only ambient capabilities survive the execution of an ordinary file by a user other than root.
        _check(_libc.prctl(AMBIENT, RAISE, DAC_OVERRIDE, 0, 0), "ambient capability")


def confine(plan: dict, supervisor: int) -> None:  # type: ignore[type-arg]
    """Restrict this process as the plan says. Raises OSError."""
    for path in plan.get("groups", ()):
        with open(path, "w", encoding="ascii") as file:
            # 0 stands for the process that writes. The groups come first: later steps take away the right to open these
            # files.
            file.write("0")
    for name, bound in plan.get("bounds", {}).items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (bound, bound))
    if plan.get("is_locked"):
        # Without it, the kernel lets only privileged processes restrict themselves by Landlock or a filter.
        _check(_libc.prctl(SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0), "no_new_privs")
    if plan.get("version"):
        shown = [*plan["shown"], *own_entries(), "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/sys/vm"]
        # Before the change of user, because that user may not be able to reach the paths.
        restrict_files(plan["version"], shown, plan["written"])
    if plan.get("user") is not None:
        become(plan["user"], plan.get("reads_all", False))
    # After the change of user, because the kernel clears the death signal when credentials change.
    _check(_libc.prctl(SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0), "death signal")
    # The supervisor may have ended before the death signal was set: then no signal would come.
    if os.getppid() != supervisor:
        raise OSError("the supervisor has ended")
    if plan.get("filter"):
        # Last, because the filter refuses calls that the steps above need.
        load_filter(plan)


def become_bot(plan: dict, command: list[str], supervisor: int) -> "NoReturn":  # type: ignore[type-arg]
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
    execute(command)


def execute(command: list[str]) -> "NoReturn":
    """Replace this process by the bot's program; exit if it cannot be executed."""
    try:
        os.execvp(command[0], command)  # noqa: S606 - runs without a shell
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr, flush=True)
        # The exit codes of a shell for a program that it cannot find, and for one that it cannot execute: `arena check`
        # explains them.
        os._exit(127 if isinstance(error, (FileNotFoundError, NotADirectoryError)) else 126)


def supervise(bot: int, referee: int, wake: int) -> int:
    """Wait until the bot or the referee ends, and reap orphans. Return the bot's wait status; -1 if there is none."""
    poll = select.poll()
    poll.register(referee, select.POLLIN)
    poll.register(wake, select.POLLIN)
    while True:
        for descriptor, _ in poll.poll():
            if descriptor == referee:
                return -1
            # Emptied before children are reaped: a signal that arrives after this line wakes the next poll.
            os.read(wake, 4096)
        while True:
            try:
                # One SIGCHLD may stand for several children: the kernel does not queue it.
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
        # Most bots leave no process: without children, the import below is saved.
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return
    # Import the module `reaper` from this folder, not from the package, which would import half of the arena.
    sys.path.append(os.path.dirname(os.path.abspath(__file__)))
    __import__("reaper").sweep(set())


def end_as(status: int) -> "NoReturn":
    """End this process as the bot ended: with the same exit code, or by the same signal."""
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        # The signal must not write a core file of this supervisor in place of one of the bot.
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        # The kernel refuses to set a handler for the first two, glibc for the others, which its threads use.
        if -code not in (signal.SIGKILL, signal.SIGSTOP, 32, 33):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


def record(plan: dict, command: list[str]) -> "NoReturn":  # type: ignore[type-arg]
    """Run the bot under a filter that reports refused calls to another process, which refuses and names them."""
    # This process becomes the bot, since Landlock may have opened only its own files of /proc.
    told, writer = os.pipe()
    answered, answerer = os.pipe()
    bot = os.getpid()
    if os.fork() == 0:
        if os.fork() == 0:  # an orphan: a bot may wait for all of its children
            os.close(writer)
            os.close(answered)
            refuse_calls(plan, bot, told, answerer)
        os._exit(0)
    os.wait()
    os.close(answerer)
    os.get_exec_path()  # imports a module, with calls that would wait for an answer
    # Without it, Yama lets a process take descriptors of its descendants only. Kernels without Yama report an error.
    _libc.prctl(SET_TRACER, struct.unpack("=i", os.read(answered, 4))[0], 0, 0, 0)
    try:
        listener = load_filter(plan, listens=True)
    except OSError as error:
        print(f"sandbox: {error}", file=sys.stderr, flush=True)
        os._exit(125)
    # The filter lets no process send a descriptor: the other one takes it.
    os.write(writer, struct.pack("=i", listener))
    # The other process could not take it, and has said why: the bot would run, but no refused call would be named.
    if not os.read(answered, 1):
        os._exit(125)
    execute(command)


def refuse_calls(plan: dict, bot: int, told: int, answerer: int) -> None:  # type: ignore[type-arg]
    """Refuse all calls that the bot's filter reports, and name them on standard error, until the bot ends."""
    process = os.pidfd_open(bot)
    os.write(answerer, struct.pack("=i", os.getpid()))
    descriptor_number = os.read(told, 4)
    if not descriptor_number:  # the bot could not load its filter, and has said why
        return
    number = struct.unpack("=i", descriptor_number)[0]
    listener = _check(_libc.syscall(GET_DESCRIPTOR_CALL, process, number, 0), "pidfd_getfd")
    # The bot runs as the same user: without this, it could write into the memory of this unfiltered process.
    _check(_libc.prctl(SET_DUMPABLE, 0, 0, 0, 0), "dumpable")
    for descriptor in range(2):  # only the bot may hold the pipes, so that the referee sees them close
        os.close(descriptor)
    os.write(answerer, b"x")
    poll = select.poll()
    poll.register(listener, select.POLLIN)
    poll.register(process, select.POLLIN)
    names, last, left = {**plan["known"], **plan["absent"]}, -1, REPORTED_CALLS
    while process not in dict(poll.poll()):
        # A new one for each call: the kernel refuses (EINVAL) a structure that is not all zeros.
        report = bytearray(REPORT_BYTES)
        try:
            # struct seccomp_notif: an id (8 bytes), a process, flags, the number of the call.
            fcntl.ioctl(listener, RECEIVE_REPORT, report)
            call, number = struct.unpack_from("=Q8xi", report)
            if number != last and left:
                # Before the answer, because the sandbox ends with the bot.
                print(REPORT_LINE + names.get(str(number), f"number {number}"), file=sys.stderr, flush=True)
                last, left = number, left - 1
            error = errno.EPERM if str(number) in plan["known"] else errno.ENOSYS
            fcntl.ioctl(listener, SEND_ANSWER, struct.pack("=QqiI", call, 0, -error, 0))
        except FileNotFoundError:  # the caller was killed meanwhile
            continue


def main() -> None:
    """Start the bot, supervise it, and kill everything it leaves."""
    if sys.argv[1] == "--record":
        record(json.loads(sys.argv[2]), sys.argv[3:])
    plan, command = json.loads(sys.argv[1]), sys.argv[2:]
    # When the referee dies, SIGCONT wakes a stopped supervisor, which then kills the bot.
    _check(_libc.prctl(SET_DEATH_SIGNAL, signal.SIGCONT, 0, 0, 0), "death signal")
    _check(_libc.prctl(SET_SUBREAPER, 1, 0, 0, 0), "subreaper")
    referee = os.pidfd_open(plan["referee"])
    # If the referee has ended, its id may belong to another process by now: only the parent's id proves the descriptor.
    if os.getppid() != plan["referee"]:
        os._exit(125)
    reader, writer = os.pipe()
    # Python refuses a blocking descriptor: a signal must never wait for room in the pipe.
    os.set_blocking(writer, False)
    # Python writes to the wake-up descriptor only for signals that have a handler.
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    waiting, holding = os.pipe()
    supervisor, bot = os.getpid(), os.fork()
    if bot == 0:
        # Until the supervisor has let go of the pipes: if it were late, the referee would not see the bot close them.
        os.close(holding)
        os.read(waiting, 1)
        os.close(waiting)
        # The pipe is shared with the supervisor: a signal to this process must not wake it.
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        become_bot(plan, command, supervisor)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):  # only the bot may hold the pipes, so that the referee sees them close
        os.dup2(nothing, descriptor)
    os.close(holding)
    status = supervise(bot, referee, reader)
    end_others()
    if status < 0:
        os._exit(125)
    end_as(status)


if __name__ == "__main__":
    main()
