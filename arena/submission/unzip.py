"""Unpacks untrusted zip archives."""

from __future__ import annotations

import os
import stat
import struct
import zipfile
import zlib
from typing import BinaryIO

from arena.submission.writer import ArchiveError, FolderWriter

_MAX_DIRECTORY = 4 * 2**20
"""Maximum size of the central directory; reading it takes many times as much memory."""


def unzip(file: BinaryIO, writer: FolderWriter) -> None:
    """Write all files of a zip archive. Raises ArchiveError, and OSError for a full disk."""
    _check_directory(file)
    try:
        with zipfile.ZipFile(file) as archive:
            for entry in archive.infolist():
                mode = entry.external_attr >> 16 if entry.create_system == 3 else 0
                if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
                    raise ArchiveError(
                        f"{entry.filename[:80]!r}: {_special(mode)}; only files and folders are accepted"
                    )
                if entry.flag_bits & 0x1:
                    raise ArchiveError(f"{entry.filename[:80]!r}: encrypted")
                if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    raise ArchiveError(f"{entry.filename[:80]!r}: unsupported compression: expected deflate")
                if "\0" in entry.orig_filename:
                    raise ArchiveError(f"{entry.orig_filename[:80]!r}: NUL character in the name")
                if entry.is_dir():
                    writer.make(entry.filename)
                else:
                    with archive.open(entry) as source:
                        writer.write(entry.filename, source, is_executable=bool(mode & 0o111))
    except (zipfile.BadZipFile, zlib.error, EOFError, struct.error, RuntimeError, ValueError) as error:
        if isinstance(error, ArchiveError):
            raise
        raise ArchiveError(f"damaged zip file: {error}") from None


def _check_directory(file: BinaryIO) -> None:
    """Raise ArchiveError for a central directory that would exhaust the memory, before it is read."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 65_557))
    tail = file.read()
    file.seek(0)
    end = tail.rfind(b"PK\x05\x06")
    if end < 0 or len(tail) < end + 22:
        raise ArchiveError("damaged zip file: the end is missing; was the upload interrupted?")
    directory = int.from_bytes(tail[end + 12 : end + 16], "little")
    if b"PK\x06\x07" in tail[max(0, end - 20) : end] or directory > _MAX_DIRECTORY:
        raise ArchiveError("too many entries in the zip file")


def _special(mode: int) -> str:
    return "link" if stat.S_ISLNK(mode) else "device or pipe"
