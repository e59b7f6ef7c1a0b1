"""The strongest sandbox, bubblewrap: own namespaces, a read-only system, and memory file systems of bounded size.

If root starts the bot, it becomes another user inside, so that the arena's files need not be readable by everyone. If
any other user starts it, it runs in a user namespace.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable

from referee.sandbox.cgroup import join_line
from referee.sandbox.launch import FILTER, Launch, Request, environment, filtered
from referee.sandbox.privilege import drop_line, pick_user
from referee.sandbox.rlimits import limit_line
from referee.sandbox.seccomp import SyscallFilter
from referee.sandbox.view import make_view

BOT_FOLDER = "/bot"
"""Path, read-only, at which a bot sees its own folder."""
SCRATCH = ("/tmp", "/dev/shm")  # noqa: S108 - private to the bot
SCRATCH_BYTES = 64 * 2**20
"""Size of each of a bot's two memory file systems; both are deleted when it ends."""
OVERHEAD = 2
"""Number of processes of the sandbox itself: bubblewrap outside, and the first process inside."""

_DEVICES = ("/dev/null", "/dev/full", "/dev/random", "/dev/urandom")
"""Devices that a bot sees: not `/dev/zero`, whose shared mappings are memory that no process holds, and no terminals,
of which the machine has a limited number.
"""
_DEVICE_LINKS = {"/dev/fd": "", "/dev/stdin": "/0", "/dev/stdout": "/1", "/dev/stderr": "/2"}
# Kernels without control groups have no namespace of them: `try`. The user namespace depends on who starts the bot.
_NAMESPACES = ("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try")


def program() -> str | None:
    """Return the path of bubblewrap, None if it is not installed."""
    return shutil.which("bwrap")


def wrap(request: Request) -> Launch:
    """Compose the command: bubblewrap, resource limits, change of user, the bot. Raises OSError without bubblewrap."""
    bwrap = program()
    if bwrap is None:
        raise FileNotFoundError("bubblewrap is not installed; install the package bubblewrap")
    user, folder, spare = pick_user(), request.folder, request.spare
    privileges: tuple[str, ...]
    become: tuple[str, ...]
    view = make_view(request.command, folder)
    scratch = ("--perms", "1777", "--size", str(SCRATCH_BYTES), "--tmpfs")
    binds = [("--ro-bind", path, path) for path in view.shown]
    if folder is not None:
        binds.append(("--ro-bind", os.path.realpath(folder), BOT_FOLDER))
    here = BOT_FOLDER if folder is not None else os.getcwd()
    program_filter, recorder = filtered(request, SyscallFilter(has_network=request.has_network))
    if user is None:
        # In a user namespace of its own, the bot would have all capabilities again.
        privileges = ("--unshare-user", "--disable-userns", "--cap-drop", "ALL")
        # Bubblewrap's own first process would run as the bot's user without the filter: a filtered shell replaces it.
        # The shell also reaps orphans and passes on the bot's exit code.
        privileges += ("--as-pid-1",)
        spare += 1
        become = ("/bin/sh", "-c", '"$@"; exit $?', "sh")
    else:
        # Bubblewrap itself stays root: only inside does `setpriv` change the user and drop these capabilities.
        keep = ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP", *(("CAP_DAC_OVERRIDE",) if request.reads_all else ()))
        privileges = ("--cap-drop", "ALL", *(word for name in keep for word in ("--cap-add", name)))
        become = drop_line(user, reads_all=request.reads_all)
    return Launch(
        (
            *join_line(request.groups),
            *(bwrap, *_NAMESPACES, *privileges, "--die-with-parent", "--new-session", "--hostname", "bot"),
            # On a machine whose call numbers `seccomp` lacks, the namespaces have to hold alone.
            *(("--seccomp", FILTER) if program_filter else ()),
            *("--proc", "/proc", "--tmpfs", "/dev"),
            *(word for device in _DEVICES for word in ("--dev-bind", device, device)),
            *(word for place, end in _DEVICE_LINKS.items() for word in ("--symlink", f"/proc/self/fd{end}", place)),
            *(word for place in SCRATCH for word in (*scratch, place)),
            *_folders([here, *(os.path.dirname(bind[2]) for bind in binds)]),
            *(word for target, place in view.links for word in ("--symlink", target, place)),
            *(word for bind in binds for word in bind),
            # The sandbox's root and /dev are memory file systems without a size limit, so make them read-only.
            *("--remount-ro", "/dev", "--remount-ro", "/"),
            *("--chdir", here, "--"),
            *limit_line(request.limits, user, has_namespace=user is None, spare=spare),
            *become,
            *recorder,
            *view.command,
        ),
        environment=environment(),
        filter=program_filter,
        overhead=OVERHEAD,
        scratch=SCRATCH,
        reports_signals=True,
    )


def _folders(paths: Iterable[str]) -> Iterable[str]:
    """Yield the arguments of bubblewrap that create these folders and their parents, readable by every user.

    Without `--perms` only root could read the folders.
    """
    folders: set[str] = set()
    for path in paths:
        while path not in ("/", "/dev", "/proc", *SCRATCH):
            folders.add(path)
            path = os.path.dirname(path)
    for path in sorted(folders):
        yield from ("--perms", "0755", "--dir", path)
