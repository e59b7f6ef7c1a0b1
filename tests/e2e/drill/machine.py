"""What the drill borrows from the machine: mounts and networks of its own, small disks, and the list of its processes.

As root in namespaces that end with the drill; without root by substitutes that its report names. Linux only.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from referee.sandbox.reaper import become_subreaper, children, descendants

_CLONE_NEWNS = 0x00020000
_CLONE_NEWNET = 0x40000000
DISK_BYTES = 8 * 2**20


def prepare() -> bool:
    """Adopt all orphans from now on, and keep mounts and networks to ourselves; whether we may."""
    if not become_subreaper():
        raise OSError("this system cannot make the drill adopt orphans: processes left behind would not be seen")
    if os.geteuid() != 0 or not all(map(shutil.which, ("mount", "ip", "nsenter"))):
        return False
    if ctypes.CDLL(None, use_errno=True).unshare(_CLONE_NEWNS | _CLONE_NEWNET) != 0:
        return False
    lines = (("mount", "--make-rprivate", "/"), ("ip", "link", "set", "lo", "up"))
    return all(subprocess.run(line, capture_output=True, check=False).returncode == 0 for line in lines)


class Timeout:
    """A time limit that a busy machine does not shorten: with twice as many running tasks as cores it lasts twice as
    long. Look often whether it `is_over`.
    """

    def __init__(self, seconds: float) -> None:
        self._left, self._looked = seconds, time.monotonic()

    def is_over(self) -> bool:
        """Whether the time is up."""
        at, running = time.monotonic(), int(Path("/proc/loadavg").read_text("ascii").split()[3].partition("/")[0])
        self._left -= (at - self._looked) * min(1.0, (os.cpu_count() or 1) / running)
        self._looked = at
        return self._left <= 0


class Disk:
    """A folder whose disk can be filled: a small memory disk, or a folder that is made unwritable."""

    def __init__(self, folder: Path, *, can_mount: bool) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.is_real = can_mount and self._mount()

    def _mount(self) -> bool:
        line = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES},mode=0755", "tmpfs", str(self.folder)]
        return subprocess.run(line, capture_output=True, check=False).returncode == 0

    def empty(self) -> None:
        """Remove all that is on it."""
        for entry in list(self.folder.iterdir()):
            if entry.is_dir():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                entry.unlink(missing_ok=True)

    @contextlib.contextmanager
    def full(self) -> Iterator[None]:
        """Nothing can be written."""
        stuffing = self.folder / "stuffing"
        if self.is_real:
            with contextlib.suppress(OSError), open(stuffing, "wb", buffering=0) as file:
                while True:
                    file.write(b"\0" * 65536)
        else:
            self.folder.chmod(0o555)
        try:
            yield
        finally:
            if self.is_real:
                stuffing.unlink(missing_ok=True)
            else:
                self.folder.chmod(0o755)

    def close(self) -> None:
        """Unmount it."""
        if self.is_real:
            subprocess.run(["umount", "-l", str(self.folder)], capture_output=True, check=False)


class Network:
    """Another network beside ours, joined by a cable that can be pulled; gone when its process is."""

    near, far = "10.253.0.1", "10.253.0.2"

    def __init__(self) -> None:
        self.owner = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
        ours = os.readlink("/proc/self/ns/net")
        while os.readlink(f"/proc/{self.owner.pid}/ns/net") == ours:  # not there yet
            time.sleep(0.01)
        _run(f"ip link add near type veth peer name far netns {self.owner.pid}")
        _run(f"ip address add {self.near}/24 dev near")
        _run("ip link set near up")
        _run("ip link set lo up", self.far_prefix)
        _run(f"ip address add {self.far}/24 dev far", self.far_prefix)
        _run("ip link set far up", self.far_prefix)

    @property
    def far_prefix(self) -> tuple[str, ...]:
        """What makes a command run in the other network."""
        return ("nsenter", f"--net=/proc/{self.owner.pid}/ns/net", "--")

    @contextlib.contextmanager
    def cut(self) -> Iterator[None]:
        """The cable is pulled."""
        _run("ip link set near down")
        try:
            yield
        finally:
            _run("ip link set near up")

    def close(self) -> None:
        """Give it up."""
        self.owner.kill()
        self.owner.wait()


def _run(line: str, prefix: Sequence[str] = ()) -> None:
    subprocess.run([*prefix, *line.split()], check=True, capture_output=True)


def command_line(pid: int) -> str:
    """What a process runs, empty when it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace").strip()
    except OSError:
        return ""


def slots_of(pid: int) -> list[int]:
    """The game slots below a process, in the order of their numbers."""
    return sorted(child for child in descendants(pid) if "referee.play.slot" in command_line(child))


def strays(known: set[int], seconds: float = 0.0) -> list[str]:
    """Children of this process that nobody knows, alive after `seconds`; dead ones are reaped.

    Not to be called while another thread waits for a process that is not in `known`.
    """
    timeout = Timeout(seconds)
    while True:
        alive = []
        for pid in children() - known:
            with contextlib.suppress(ChildProcessError):
                if os.waitpid(pid, os.WNOHANG) == (0, 0):
                    alive.append(pid)
        if not alive or timeout.is_over():
            return [f"{pid} {command_line(pid)[:200]}" for pid in sorted(alive)]
        time.sleep(0.05)
