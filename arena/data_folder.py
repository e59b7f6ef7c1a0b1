"""The folders in which the arena keeps its own: made for its user alone, whatever the umask it was started with.

Refuses to change the rights of what is there already: whoever opened it may have had a reason. `arena doctor` tells.
"""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

PRIVATE, PASSABLE = 0o700, 0o711
PROBE_BYTES = 1 << 20
"""A disk with less room than that is full."""
_OTHERS_READ, _OTHERS = 0o006, 0o007


def is_passed_through() -> bool:
    """Whether bots run as other users, who must get to the files of their bundle through the folders above them."""
    return os.geteuid() == 0


def make_folder(folder: Path, *, is_passage: bool = False) -> None:
    """Make a folder and those missing above it, for this user alone. Raises OSError.

    `is_passage`: bundles lie below. Where bots are other users they may then pass through, but not look around.
    """
    mode = PASSABLE if is_passage and is_passed_through() else PRIVATE
    for place in reversed([each for each in (folder, *folder.parents) if not each.is_dir()]):
        try:
            place.mkdir()
        except FileExistsError:
            if not place.is_dir():
                raise
        else:
            place.chmod(mode)


def make_file(path: Path) -> None:
    """Make an empty file that this user alone may read, unless there is one. Raises OSError."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))


def disk_state(folder: Path) -> Literal["ok", "full", "unwritable"]:
    """Whether the disk of a folder takes what is written: try it with a file that has no name."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(PROBE_BYTES))
    except OSError as error:
        return "full" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "unwritable"
    return "ok"


def exposed(folder: Path) -> Iterator[Path]:
    """What other users of this machine may read of a data folder: the folder itself, or files in it. Raises OSError."""
    rights = stat.S_IMODE(folder.stat().st_mode)
    if rights & (_OTHERS_READ if is_passed_through() else _OTHERS):
        yield folder
    elif rights & _OTHERS:
        for file in sorted(folder.iterdir()):
            if file.is_file() and file.stat().st_mode & _OTHERS_READ:
                yield file
