"""Unpacks untrusted uploads (zip or tar archives, single executables) into a new folder, within limits.

Only plain files and folders with plain relative names are accepted. An upload with any other entry is refused,
and the files written so far are removed.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

from arena.submission.untar import TarKind, untar
from arena.submission.unzip import unzip
from arena.submission.writer import ArchiveError, BundleBounds, FolderWriter

SINGLE = "bot"
"""File name of a single executable in its folder."""

Kind = TarKind | Literal["zip", "executable", "script"]

_BEGINNINGS: tuple[tuple[int, bytes, Kind], ...] = (
    (0, b"PK\x03\x04", "zip"),
    (0, b"PK\x05\x06", "zip"),
    (0, b"\x1f\x8b", "tar.gz"),
    (0, b"BZh", "tar.bz2"),
    (0, b"\xfd7zXZ\x00", "tar.xz"),
    (0, b"\x28\xb5\x2f\xfd", "tar.zst"),
    (257, b"ustar", "tar"),
    (0, b"\x7fELF", "executable"),
    (0, b"#!", "script"),
)
"""Magic numbers: offset, bytes, kind of file."""


@dataclass(frozen=True, slots=True)
class Contents:
    """An unpacked bundle. `folder` is its root: the only top-level folder of the archive, if there is just one."""

    kind: Kind
    folder: Path
    files: tuple[str, ...]
    size_bytes: int


def kind_of(file: BinaryIO) -> Kind:
    """Return the kind of a file by its first bytes. Raises ArchiveError for a file of no known kind."""
    file.seek(0)
    head = file.read(512)
    file.seek(0)
    for place, mark, kind in _BEGINNINGS:
        if head.startswith(mark, place):
            return kind
    raise ArchiveError(
        "neither an archive nor an executable: upload an ELF program, a script with a shebang (#!), or a zip or tar "
        "archive with a bot.toml"
    )


def unpack(file: BinaryIO, folder: Path, bounds: BundleBounds) -> Contents:
    """Unpack into `folder`, which must not exist. Raises ArchiveError, and OSError for a full disk.

    Files become read-only. They are executable if marked so, or if they start like a program or a script.
    """
    folder.mkdir(parents=True)
    folder.chmod(0o755)  # bots may run as another user
    try:
        kind = kind_of(file)
        writer = FolderWriter(folder, bounds)
        match kind:
            case "zip":
                unzip(file, writer)
            case "executable" | "script":
                writer.write(SINGLE, file, is_executable=True)
            case _:
                untar(file, kind, writer)
        if not writer.files:
            raise ArchiveError("the archive has no files")
        return Contents(kind, _root(folder), tuple(sorted(writer.files)), writer.size_bytes)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _root(folder: Path) -> Path:
    """Return the root of the bundle: the only entry of the archive if that is a folder."""
    entries = list(folder.iterdir())
    return entries[0] if len(entries) == 1 and entries[0].is_dir() else folder


__all__ = ["SINGLE", "ArchiveError", "BundleBounds", "Contents", "Kind", "kind_of", "unpack"]
