"""Faults of files that a user names: devices and pipes, whose reading may never end, and scripts of other systems."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

_KINDS = {
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}


def refuse_special(path: str | Path) -> None:
    """Raise OSError for a device, a pipe or a socket, without opening it. A missing path or a folder passes."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return
    if kind := _KINDS.get(stat.S_IFMT(mode)):
        raise OSError(errno.EINVAL, f"it is {kind}, not a file", str(path))


_MARK = b"\xef\xbb\xbf"
_HEAD_BYTES = 512


def script_fault(path: str | Path) -> str | None:
    """Return why the kernel cannot start a file that was written as a script; None for any other file.

    The kernel takes a carriage return for the last letter of the interpreter's name, and then finds no such file.
    """
    try:
        if not os.path.isfile(path):
            return None
        with open(path, "rb") as file:
            first, _, _ = file.read(_HEAD_BYTES).partition(b"\n")
    except OSError:  # some programs may be run but not read
        return None
    if first.startswith(_MARK + b"#!"):
        return "its first line begins with a byte order mark; save it as UTF-8 without one"
    # An interpreter may forgive the carriage return behind an option, as perl does.
    if first.startswith(b"#!") and first.endswith(b"\r") and not first.split()[-1].startswith(b"-"):
        return "its first line ends with a carriage return; save it with Unix line ends (LF)"
    return None
