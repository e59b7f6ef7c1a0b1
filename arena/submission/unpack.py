"""Unpacks untrusted uploads (zip or tar archives, single executables) into a new folder, within limits.

Only plain files and folders with plain relative names are accepted. An upload with any other entry is refused, and the
files written so far are removed.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import shutil
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal, Self

import zstandard

from arena.submission.writer import MAX_NAME, ArchiveError, BundleBounds, FolderWriter

__all__ = ["SINGLE", "ArchiveError", "BundleBounds", "Contents", "Kind", "kind_of", "unpack"]

TarKind = Literal["tar", "tar.gz", "tar.bz2", "tar.xz", "tar.zst"]

_CHUNK = 64 * 1024
_MAX_HEADER = 64 * 1024
"""Maximum size of a name or attribute block of a tar entry."""
_DECODER_BYTES = 128 * 2**20
"""Memory limit of a decompressor."""


class _Bounded:
    """A stream that raises ArchiveError after a maximum number of bytes."""

    def __init__(self, source: Any, size: int) -> None:
        self._source = source
        self._left = size

    def read(self, size: int = -1) -> bytes:
        """Read at most one chunk."""
        data: bytes = self._source.read(min(size, _CHUNK) if size >= 0 else _CHUNK)
        self._left -= len(data)
        if self._left < 0:
            raise ArchiveError("the unpacked bundle exceeds the size limit")
        return data


class _XZ:
    """An xz decompressor with a memory limit, which `lzma.LZMAFile` lacks."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self._decoder = lzma.LZMADecompressor(memlimit=_DECODER_BYTES)

    def read(self, size: int) -> bytes:
        """Read up to `size` bytes; empty at the end of the stream."""
        while not self._decoder.eof:
            data = self._source.read(_CHUNK) if self._decoder.needs_input else b""
            if not data and self._decoder.needs_input:
                raise EOFError("the compressed data is truncated")
            if chunk := self._decoder.decompress(data, size):
                return chunk
        return b""


class _Member(tarfile.TarInfo):
    """A tar header that refuses long attribute blocks before they are read."""

    _BLOCKS = (
        tarfile.XHDTYPE,
        tarfile.XGLTYPE,
        tarfile.SOLARIS_XHDTYPE,
        tarfile.GNUTYPE_LONGNAME,
        tarfile.GNUTYPE_LONGLINK,
    )

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        """Read a header. Raises ArchiveError for a sparse file, and for a long attribute block before that is read."""
        found = super().frombuf(buf, encoding, errors)
        if found.type == tarfile.GNUTYPE_SPARSE or (found.type in cls._BLOCKS and not 0 <= found.size <= _MAX_HEADER):
            raise ArchiveError(f"{found.name[:80]!r}: unsupported header")
        return found


@contextmanager
def _decompressed(file: BinaryIO, kind: TarKind) -> Iterator[Any]:
    if kind == "tar":
        yield file
    elif kind == "tar.gz":
        with gzip.GzipFile(fileobj=file) as stream:
            yield stream
    elif kind == "tar.bz2":
        with bz2.BZ2File(file) as packed:
            yield packed
    elif kind == "tar.xz":
        yield _XZ(file)
    else:
        yield zstandard.ZstdDecompressor(max_window_size=_DECODER_BYTES).stream_reader(file, read_across_frames=True)


def untar(file: BinaryIO, kind: TarKind, writer: FolderWriter) -> None:
    """Write all files of a tar archive. Raises ArchiveError, and OSError for a full disk."""
    bound = writer.bounds.size_bytes + writer.bounds.entries * (1024 + 2 * MAX_NAME) + 2**20
    try:
        with _decompressed(file, kind) as stream:
            source: Any = _Bounded(stream, bound)
            # Read forward only: a seek would pass by the bound.
            with tarfile.open(fileobj=source, mode="r|", tarinfo=_Member, errorlevel=2) as archive:
                for number, entry in enumerate(archive):
                    if number > 2 * writer.bounds.entries:
                        raise ArchiveError(f"too many entries: more than {2 * writer.bounds.entries:,}")
                    _take(archive, entry, writer)
    except ArchiveError:
        raise
    except (
        tarfile.TarError,
        EOFError,
        zlib.error,
        lzma.LZMAError,
        zstandard.ZstdError,
        ValueError,
        RecursionError,
    ) as error:
        raise ArchiveError(f"damaged {kind} file: {error}") from None
    except OSError as error:
        if error.errno is None:  # gzip and bz2 raise OSError without errno for bad data; a full disk has one
            raise ArchiveError(f"damaged {kind} file: {error}") from None
        raise


def _take(archive: tarfile.TarFile, entry: tarfile.TarInfo, writer: FolderWriter) -> None:
    if entry.isdir():
        writer.make(entry.name)
        return
    if not entry.isreg() or entry.issparse():
        raise ArchiveError(f"{entry.name[:80]!r}: {_tar_kind(entry)}; only files and folders are accepted")
    source = archive.extractfile(entry)
    assert source is not None
    with source:
        writer.write(entry.name, source, is_executable=bool(entry.mode & 0o111))


def _tar_kind(entry: tarfile.TarInfo) -> str:
    if entry.issym() or entry.islnk():
        return "link"
    return "device or pipe" if entry.isdev() else "entry of unknown type"


_MAX_DIRECTORY = 4 * 2**20
"""Maximum size of the central directory; reading it takes many times as much memory."""


def unzip(file: BinaryIO, writer: FolderWriter) -> None:
    """Write all files of a zip archive. Raises ArchiveError, and OSError for a full disk."""
    _check_directory(file)
    try:
        with zipfile.ZipFile(file) as archive:
            for entry in archive.infolist():
                # 3 is Unix; other systems keep no mode there.
                mode = entry.external_attr >> 16 if entry.create_system == 3 else 0
                if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
                    kind = "link" if stat.S_ISLNK(mode) else "device or pipe"
                    raise ArchiveError(f"{entry.filename[:80]!r}: {kind}; only files and folders are accepted")
                if entry.flag_bits & 0x1:
                    raise ArchiveError(f"{entry.filename[:80]!r}: encrypted")
                if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    raise ArchiveError(f"{entry.filename[:80]!r}: unsupported compression: expected deflate")
                # zipfile ends the name there, other programs may not: they would see another file.
                if "\0" in entry.orig_filename:
                    raise ArchiveError(f"{entry.orig_filename[:80]!r}: NUL character in the name")
                if not entry.filename:  # `is_dir` of Python 3.11 fails for it with an IndexError
                    raise ArchiveError("an entry of the zip file: missing file name")
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
    # The last record has 22 bytes and a comment of at most 65,535.
    file.seek(max(0, size - 65_557))
    tail = file.read()
    file.seek(0)
    end = tail.rfind(b"PK\x05\x06")
    if end < 0 or len(tail) < end + 22:
        raise ArchiveError("damaged zip file: the end is missing; was the upload interrupted?")
    directory = int.from_bytes(tail[end + 12 : end + 16], "little")
    # The locator of a zip64 directory: more than 65,535 entries, or 4 GiB.
    if b"PK\x06\x07" in tail[max(0, end - 20) : end] or directory > _MAX_DIRECTORY:
        raise ArchiveError("too many entries in the zip file")


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
    if head.startswith(b"\xef\xbb\xbf#!"):
        raise ArchiveError("the script begins with a byte order mark, so no system starts it: save it as UTF-8 without")
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
