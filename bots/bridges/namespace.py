"""A network namespace for a bridge with fixed ports, so that any number of games can run at once.

The bridge restarts itself through `unshare -Urn`, if the system allows that, and brings up the loopback device.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import socket
import struct
import subprocess
import sys
from collections.abc import Sequence

FLAG = "BRIDGE_HAS_NAMESPACE"
_SET_FLAGS = 0x8914
_UP, _RUNNING = 0x1, 0x40


def isolate(module: str, arguments: Sequence[str]) -> bool:
    """Restart `module` in a new network namespace if the system allows that.

    Returns whether this process is in such a namespace: the restarted process calls this function again.
    """
    if os.environ.pop(FLAG, ""):
        return _bring_up_loopback()
    command = shutil.which("unshare")
    if not command:
        return False
    inside = [command, "-Urn", "--"]
    if subprocess.run([*inside, "true"], capture_output=True, check=False).returncode != 0:
        return False
    os.environ[FLAG] = "1"
    python = [sys.executable, *(["-P"] if sys.flags.safe_path else [])]
    os.execv(command, [*inside, *python, "-m", module, *arguments])  # noqa: S606 - replaces this process


def _bring_up_loopback() -> bool:
    request = struct.pack("16sh14x", b"lo", _UP | _RUNNING)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        try:
            fcntl.ioctl(any_socket, _SET_FLAGS, request)
        except OSError:
            return False
    return True
