"""Unpacks zip archives, as strangers make them."""

from __future__ import annotations

import os
import stat
import struct
import zipfile
import zlib
from typing import BinaryIO

from arena.submission.writer import ArchiveError, FolderWriter

_MAX_DIRECTORY = 4 * 2**20
"""The longest table of contents of a zip file; reading it costs many times its size."""


def unzip(file: BinaryIO, writer: FolderWriter) -> None:
    """Write all files of a zip archive. Raises ArchiveError, and OSError when the disk gives out."""
    _check_directory(file)
    try:
        with zipfile.ZipFile(file) as archive:
            for entry in archive.infolist():
                mode = entry.external_attr >> 16 if entry.create_system == 3 else 0
                if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
                    raise ArchiveError(f"{entry.filename[:80]!r}: {_special(mode)}; only files and folders are taken")
                if entry.flag_bits & 0x1:
                    raise ArchiveError(f"{entry.filename[:80]!r}: encrypted")
                if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    raise ArchiveError(f"{entry.filename[:80]!r}: compressed by another method than deflate")
                if "\0" in entry.orig_filename:
                    raise ArchiveError(f"{entry.orig_filename[:80]!r}: a name with a NUL character")
                if entry.is_dir():
                    writer.make(entry.filename)
                else:
                    with archive.open(entry) as source:
                        writer.write(entry.filename, source, is_executable=bool(mode & 0o111))
    except (zipfile.BadZipFile, zlib.error, EOFError, struct.error, RuntimeError, ValueError) as error:
        if isinstance(error, ArchiveError):
            raise
        raise ArchiveError(f"a broken zip file: {error}") from None


def _check_directory(file: BinaryIO) -> None:
    """Refuse a table of contents that would fill the memory, before it is read."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 65_557))
    tail = file.read()
    file.seek(0)
    end = tail.rfind(b"PK\x05\x06")
    if end < 0 or len(tail) < end + 22:
        raise ArchiveError("a broken zip file: it has no end; was the upload cut?")
    directory = int.from_bytes(tail[end + 12 : end + 16], "little")
    if b"PK\x06\x07" in tail[max(0, end - 20) : end] or directory > _MAX_DIRECTORY:
        raise ArchiveError("a zip file with too many entries")


def _special(mode: int) -> str:
    return "a link" if stat.S_ISLNK(mode) else "a device or a pipe"
