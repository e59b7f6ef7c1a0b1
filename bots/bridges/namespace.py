"""A network of its own for a bridge whose ports are fixed, so that any number of games can be played at once.

The bridge starts itself anew by way of `unshare -Urn`, where the system allows that, and brings up the loopback device.
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
    """Whether this process has a network of its own; if it can have one, `module` is begun again inside it."""
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
    os.execv(command, [*inside, *python, "-m", module, *arguments])  # noqa: S606 - the same process goes on


def _bring_up_loopback() -> bool:
    request = struct.pack("16sh14x", b"lo", _UP | _RUNNING)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        try:
            fcntl.ioctl(any_socket, _SET_FLAGS, request)
        except OSError:
            return False
    return True
