"""Creates the data folders of the arena, private to its user whatever the umask, and files that appear when complete.

Permissions of existing folders are never changed, as they may be intended; `arena doctor` reports them.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TypeAlias

DiskState: TypeAlias = Literal["ok", "full", "unwritable"]

PRIVATE, PASSABLE = 0o700, 0o711
PROBE_BYTES = 1 << 20
"""A disk with less free space is full."""
_OTHERS_READ, _OTHERS = 0o006, 0o007


def is_passed_through() -> bool:
    """Return whether bots run as other users, who need to traverse the folders above their bundle."""
    return os.geteuid() == 0


def make_folder(folder: Path, *, is_passage: bool = False) -> None:
    """Create a folder and its missing parents, private to this user. Raises OSError.

    `is_passage`: bundles are stored below it. If bots run as other users, these may then traverse the folder, but not
    list it.
    """
    mode = PASSABLE if is_passage and is_passed_through() else PRIVATE
    for place in reversed([path for path in (folder, *folder.parents) if not path.is_dir()]):
        try:
            place.mkdir()
        except FileExistsError:
            if not place.is_dir():  # another process was faster if it is one
                raise
        else:
            # The umask would reduce a mode that is given to mkdir.
            place.chmod(mode)


def make_file(path: Path) -> None:
    """Create an empty file that only this user can read, unless it exists. Raises OSError."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))


@contextlib.contextmanager
def unfinished(path: Path) -> Iterator[Path]:
    """Yield a temporary path for content that the caller moves to `path` once it is complete; else it is removed.

    A system error about the temporary file names `path`: users do not know the other name.
    """
    fresh = path.with_name(f"{path.name}.new")
    try:
        yield fresh
    except OSError as error:
        if str(error.filename) == str(fresh):
            error.filename = str(path)
        raise
    finally:
        with contextlib.suppress(OSError):
            fresh.unlink()


def replace_file(path: Path, text: str) -> None:
    """Write a file that is complete and on the disk before it takes the place of an older one."""
    with unfinished(path) as fresh:
        with open(fresh, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            # Or a power failure may leave an empty file under the new name: names can reach the disk before contents.
            os.fsync(file.fileno())
        os.replace(fresh, path)


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def disk_state(folder: Path) -> DiskState:
    """Check whether the disk of a folder accepts data, by writing an unnamed file."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            # The free space that the system reports says nothing of quotas, nor of a file system that has become
            # read-only.
            file.write(bytes(PROBE_BYTES))
    except OSError as error:
        return "full" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "unwritable"
    return "ok"


def exposed(folder: Path) -> Iterator[Path]:
    """Yield the data folder, or its files, if other users can read them. Raises OSError."""
    rights = stat.S_IMODE(folder.stat().st_mode)
    if rights & (_OTHERS_READ if is_passed_through() else _OTHERS):
        yield folder
    elif rights & _OTHERS:
        for file in sorted(folder.iterdir()):
            if file.is_file() and file.stat().st_mode & _OTHERS_READ:
                yield file
