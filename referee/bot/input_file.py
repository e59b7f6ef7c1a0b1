"""Refuses devices and pipes that a user names as input files, since reading one may never end."""

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
