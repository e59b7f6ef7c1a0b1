"""The system calls that a bot needs, by name and number, and the calls that are refused or treated in another way.

A bot computes, reads its files, writes some, starts threads and processes, and talks through pipes: `GROUPS` names the
calls for that. A list of what is refused instead would have to name all memory that the kernel charges to no process,
and to grow with it.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass, field
from typing import TypeAlias

Numbers: TypeAlias = tuple[int, int]
"""The numbers of a system call on x86-64, and on arm64 and every newer architecture; -1 where it does not exist."""


def _numbers(text: str) -> dict[str, Numbers]:
    """Parse `name number number, …`; `-` stands for a number that does not exist."""
    calls = (call.split() for call in text.split(","))
    return {name: (_number(old), _number(new)) for name, old, new in calls}


def _number(word: str) -> int:
    return -1 if word == "-" else int(word)


@dataclass(frozen=True, slots=True)
class CallGroup:
    """System calls that a bot may make whatever their arguments, with the reason why it needs them."""

    name: str
    reason: str
    calls: dict[str, Numbers] = field(repr=False)


GROUPS = (
    CallGroup(
        "files",
        "A bot reads its program, its libraries and its files, and writes to pipes and scratch files.",
        _numbers(
            "read 0 63, write 1 64, readv 19 65, writev 20 66, pread64 17 67, pwrite64 18 68, preadv 295 69, "
            "pwritev 296 70, preadv2 327 286, pwritev2 328 287, lseek 8 62, open 2 -, openat 257 56, creat 85 -, "
            "close 3 57, dup 32 23, dup2 33 -, dup3 292 24, stat 4 -, fstat 5 80, lstat 6 -, newfstatat 262 79, "
            "statx 332 291, statfs 137 43, fstatfs 138 44, access 21 -, faccessat 269 48, faccessat2 439 439, "
            "getdents 78 -, getdents64 217 61, readlink 89 -, readlinkat 267 78, getcwd 79 17, chdir 80 49, "
            "fchdir 81 50, umask 95 166, mkdir 83 -, mkdirat 258 34, rmdir 84 -, unlink 87 -, unlinkat 263 35, "
            "rename 82 -, renameat 264 38, renameat2 316 276, link 86 -, linkat 265 37, symlink 88 -, "
            "symlinkat 266 36, truncate 76 45, ftruncate 77 46, fallocate 285 47, fsync 74 82, fdatasync 75 83, "
            "fadvise64 221 223, readahead 187 213, sendfile 40 71, copy_file_range 326 285"
        ),
    ),
    CallGroup(
        "waiting",
        "A bot waits for input, for its threads and for a time, on pipes of its own too.",
        _numbers(
            "poll 7 -, ppoll 271 73, select 23 -, pselect6 270 72, epoll_create 213 -, epoll_create1 291 20, "
            "epoll_ctl 233 21, epoll_wait 232 -, epoll_pwait 281 22, epoll_pwait2 441 441, pipe 22 -, pipe2 293 59, "
            "eventfd 284 -, eventfd2 290 19, timerfd_create 283 85, timerfd_settime 286 86, timerfd_gettime 287 87"
        ),
    ),
    CallGroup(
        "memory",
        "A bot allocates memory, and just-in-time compilers make it executable.",
        _numbers(
            "brk 12 214, munmap 11 215, mremap 25 216, mprotect 10 226, mincore 27 232, msync 26 227, "
            "membarrier 324 283"
        ),
    ),
    CallGroup(
        "threads",
        "A bot searches in several threads, which wait for each other.",
        _numbers(
            "futex 202 98, futex_waitv 449 449, set_robust_list 273 99, set_tid_address 218 96, gettid 186 178, "
            "rseq 334 293, arch_prctl 158 -, sched_yield 24 124, sched_getaffinity 204 123, sched_getparam 143 121, "
            "sched_getscheduler 145 120, sched_getattr 315 275, sched_get_priority_max 146 125, "
            "sched_get_priority_min 147 126, sched_rr_get_interval 148 127, getcpu 309 168, getpriority 140 141"
        ),
    ),
    CallGroup(
        "processes",
        "A bot may be a script that starts programs. The sandbox itself changes the user before the bot begins, which "
        "the kernel refuses to a bot.",
        _numbers(
            "fork 57 -, vfork 58 -, execve 59 221, wait4 61 260, waitid 247 95, exit 60 93, exit_group 231 94, "
            "getpid 39 172, getppid 110 173, getpgrp 111 -, getuid 102 174, geteuid 107 175, getgid 104 176, "
            "getegid 108 177, getresuid 118 148, getresgid 120 150, getgroups 115 158, setresuid 117 147, "
            "setresgid 119 149, setreuid 113 145, setregid 114 143, setuid 105 146, setgid 106 144, "
            "setgroups 116 159, capget 125 90, capset 126 91, getrlimit 97 163, setrlimit 160 164, "
            "getrusage 98 165, times 100 153, sysinfo 99 179, uname 63 160, getrandom 318 278"
        ),
    ),
    CallGroup(
        "signals",
        "A bot handles signals and the alarm of its own clock. Timers with a signal of choice are refused: SIGCONT "
        "would resume a stopped process.",
        _numbers(
            "rt_sigaction 13 134, rt_sigprocmask 14 135, rt_sigreturn 15 139, rt_sigpending 127 136, "
            "rt_sigtimedwait 128 137, rt_sigsuspend 130 133, sigaltstack 131 132, restart_syscall 219 128, "
            "pause 34 -, alarm 37 -, getitimer 36 102, setitimer 38 103"
        ),
    ),
    CallGroup(
        "time",
        "A bot measures the time that it thinks, and sleeps.",
        _numbers("nanosleep 35 101, gettimeofday 96 169, time 201 -"),
    ),
    CallGroup(
        "pairs",
        "Event loops wake themselves, and programs talk to those they start, through pairs of connected sockets. "
        "Messages that can carry descriptors are refused: on its way a descriptor is in no process's table.",
        _numbers(
            "sendto 44 206, recvfrom 45 207, recvmsg 47 212, recvmmsg 299 243, shutdown 48 210, getsockopt 55 209, "
            "getsockname 51 204, getpeername 52 205"
        ),
    ),
)
"""The allowed calls, the most frequent groups first. A few more are allowed with certain arguments (`CHECKED`)."""

CONNECTIONS = _numbers("connect 42 203, bind 49 200, listen 50 201, accept 43 202, accept4 288 242")
"""Calls for connections on the bot's own machine, where it has one."""
CLOCKS = _numbers("clock_gettime 228 113, clock_getres 229 114, clock_nanosleep 230 115")
"""Calls about a clock. The kernel shows everybody the processor time of every process, and so how long others think."""
METADATA = _numbers(
    "chmod 90 -, fchmod 91 52, fchmodat 268 53, fchmodat2 452 452, utime 132 -, utimes 235 -, futimesat 261 -, "
    "utimensat 280 88"
)
"""Calls that change mode and times of files, which Landlock does not restrict: allowed to a bot in namespaces, where
all files that it could change are its own.
"""
REFUSED = _numbers(
    "mlock 149 228, mlock2 325 284, mlockall 151 230, sched_setattr 314 274, ioprio_set 251 30, chown 92 -, "
    "lchown 94 -, fchown 93 55, fchownat 260 54, "
    "ptrace 101 117, process_vm_readv 310 270, process_vm_writev 311 271, unshare 272 97, setns 308 268, "
    "mount 165 40, umount2 166 39, pivot_root 155 41, chroot 161 51, personality 135 92, seccomp 317 277, "
    "sendmsg 46 211, sendmmsg 307 269, perf_event_open 298 241"
)
"""Calls for which programs expect EPERM where they lack the right: with ENOSYS some would end."""
IGNORED = _numbers("sched_setaffinity 203 122, setsid 112 157, setpgid 109 154")
"""Calls that report success without effect, because some programs exit otherwise. All processes of a bot stay in one
process group: a signal to it reaches even those that fork all the time.
"""
OF_A_PROCESS = _numbers(
    "prlimit64 302 261, sched_setscheduler 144 119, sched_setparam 142 118, getsid 124 156, getpgid 121 155, "
    "get_robust_list 274 100"
)
"""Calls whose first argument is a process id, 0 for the caller. Landlock does not keep other processes from them."""
SIGNALS = _numbers("kill 62 129, tkill 200 130, tgkill 234 131, rt_sigqueueinfo 129 138, rt_tgsigqueueinfo 297 240")
CHECKED = _numbers(
    "clone 56 220, socket 41 198, socketpair 53 199, setsockopt 54 208, ioctl 16 29, fcntl 72 25, flock 73 32, "
    "close_range 436 436, mmap 9 222, madvise 28 233, setpriority 141 140, prctl 157 167"
)
"""Calls that are allowed with certain arguments only (`referee.sandbox.seccomp`)."""

ABSENT = _numbers(
    "clone3 435 435, memfd_create 319 279, memfd_secret 447 447, shmget 29 194, shmat 30 196, shmctl 31 195, "
    "semget 64 190, semop 65 193, semctl 66 191, semtimedop 220 192, msgget 68 186, mq_open 240 180, "
    "io_setup 206 0, io_uring_setup 425 425, inotify_init 253 -, inotify_init1 294 26, fanotify_init 300 262, "
    "signalfd 282 -, signalfd4 289 74, timer_create 222 107, vmsplice 278 75, splice 275 76, tee 276 77, "
    "setxattr 188 5, getxattr 191 8, listxattr 194 11, mbind 237 235, set_mempolicy 238 237, get_mempolicy 239 236, "
    "pidfd_open 434 434, pidfd_getfd 438 438, pidfd_send_signal 424 424, openat2 437 437, process_madvise 440 440, "
    "landlock_create_ruleset 444 444, bpf 321 280, userfaultfd 323 282, keyctl 250 219, add_key 248 217, "
    "name_to_handle_at 303 264, kcmp 312 272, mknod 133 -, mknodat 259 33, sync 162 81, syncfs 306 267, "
    "sync_file_range 277 84, modify_ldt 154 -, pkey_alloc 330 289, pkey_mprotect 329 288, mseal 462 462, "
    "munlock 150 229, remap_file_pages 216 234, clock_settime 227 112, adjtimex 159 171, ioprio_get 252 31"
)
"""Some calls that are not in the list, by name for messages: those that programs are known to make.

clone3 has its flags in memory, which a filter cannot read: without it, libraries call clone.
"""

MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
"""The kernel's number of the architecture, and the place in `Numbers`."""


def call_names(machine: str = "") -> tuple[dict[int, str], dict[int, str]]:
    """Return the names of system calls by number: of those that the filter names, and of some that it does not."""
    _, column = MACHINES.get(machine or platform.machine(), (0, 0))
    listed = (*(group.calls for group in GROUPS), CLOCKS, CONNECTIONS, METADATA, REFUSED, IGNORED, OF_A_PROCESS)
    return (
        {numbers[column]: name for calls in (*listed, SIGNALS, CHECKED) for name, numbers in calls.items()},
        {numbers[column]: name for name, numbers in ABSENT.items()},
    )
