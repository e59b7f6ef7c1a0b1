"""Unpacks what strangers upload: a zip or tar archive, or a single executable, into a new folder, within bounds.

Only plain files and folders with plain relative names are taken; anything else is refused with the name of the entry,
and what was written is removed. Refuses to know what a bot is.
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
"""The name a single executable gets in its folder."""

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
"""Where in a file which bytes say what it is."""


@dataclass(frozen=True, slots=True)
class Contents:
    """What was unpacked. `folder` is where the files are: the one top folder of the archive if it has but one."""

    kind: Kind
    folder: Path
    files: tuple[str, ...]
    size_bytes: int


def kind_of(file: BinaryIO) -> Kind:
    """What a file is, by its first bytes. Raises ArchiveError for what is neither archive nor executable."""
    file.seek(0)
    head = file.read(512)
    file.seek(0)
    for place, mark, kind in _BEGINNINGS:
        if head.startswith(mark, place):
            return kind
    raise ArchiveError(
        "neither an archive nor an executable: send an ELF program, a script that begins with #!, or a zip or tar "
        "archive with a bot.toml"
    )


def unpack(file: BinaryIO, folder: Path, bounds: BundleBounds) -> Contents:
    """Unpack into `folder`, which must not exist yet. Raises ArchiveError, and OSError when the disk gives out.

    Files are read-only afterwards, executable when marked so or when they begin like a program or a script.
    """
    folder.mkdir(parents=True)
    folder.chmod(0o755)  # a bot may be another user
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
            raise ArchiveError("an archive without a single file")
        return Contents(kind, _root(folder), tuple(sorted(writer.files)), writer.size_bytes)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _root(folder: Path) -> Path:
    """The folder of the bundle: the only entry of the archive if that is a folder, as when one was packed whole."""
    entries = list(folder.iterdir())
    return entries[0] if len(entries) == 1 and entries[0].is_dir() else folder


__all__ = ["SINGLE", "ArchiveError", "BundleBounds", "Contents", "Kind", "kind_of", "unpack"]
