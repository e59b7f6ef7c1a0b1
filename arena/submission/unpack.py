"""Unpacks what strangers upload: a zip or tar archive, or a single executable, into a new folder, within bounds.

Only plain files and folders with plain relative names are taken; anything else is refused with the name of the entry,
and what was written is removed. Bytes are counted as they are written: what an archive says of itself is not believed.
Refuses to know what a bot is.
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
from typing import IO, Any, BinaryIO, Literal

import zstandard

SINGLE = "bot"
"""The name a single executable gets in its folder."""

Kind = Literal["zip", "tar", "tar.gz", "tar.bz2", "tar.xz", "tar.zst", "executable", "script"]

_CHUNK = 64 * 1024
_MAX_NAME = 500
_MAX_DEPTH = 24
_MAX_HEADER = 64 * 1024
"""The longest name or attribute block of one tar entry."""
_MAX_DIRECTORY = 4 * 2**20
"""The longest table of contents of a zip file; reading it costs many times its size."""
_DECODER_BYTES = 128 * 2**20
"""How much memory a decompressor may take."""


class ArchiveError(ValueError):
    """An archive that is refused. The message names the entry and says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much an archive may hold: bytes unpacked, files and folders."""

    size_bytes: int = 256 * 2**20
    entries: int = 2000


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
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip"
    if head.startswith(b"\x1f\x8b"):
        return "tar.gz"
    if head.startswith(b"BZh"):
        return "tar.bz2"
    if head.startswith(b"\xfd7zXZ\x00"):
        return "tar.xz"
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        return "tar.zst"
    if head[257:262] == b"ustar":
        return "tar"
    if head.startswith(b"\x7fELF"):
        return "executable"
    if head.startswith(b"#!"):
        return "script"
    raise ArchiveError(
        "neither an archive nor an executable: send an ELF program, a script that begins with #!, or a zip or tar "
        "archive with a bot.toml"
    )


def unpack(file: BinaryIO, folder: Path, bounds: Bounds) -> Contents:
    """Unpack into `folder`, which must not exist yet. Raises ArchiveError, and OSError when the disk gives out.

    Files are read-only afterwards, executable when marked so or when they begin like a program or a script.
    """
    folder.mkdir(parents=True)
    try:
        kind = kind_of(file)
        writer = _Writer(folder, bounds)
        if kind in ("executable", "script"):
            writer.write(SINGLE, file, is_executable=True)
        elif kind == "zip":
            _unpack_zip(file, writer)
        else:
            _unpack_tar(file, kind, writer)
        if not writer.files:
            raise ArchiveError("an archive without a single file")
        return Contents(kind, _root(folder), tuple(sorted(writer.files)), writer.size_bytes)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


class _Writer:
    """Writes files below a folder and keeps count."""

    def __init__(self, folder: Path, bounds: Bounds) -> None:
        self._folder = folder
        self.bounds = bounds
        self._folders: set[str] = set()
        self.files: list[str] = []
        self.size_bytes = 0

    def make(self, name: str) -> None:
        """A folder, with those above it."""
        parts = _parts(name)
        for depth in range(1, len(parts) + 1):
            self._make("/".join(parts[:depth]))

    def _make(self, name: str) -> None:
        if name in self._folders:
            return
        self._count(name)
        try:
            (self._folder / name).mkdir()
        except FileExistsError:
            raise ArchiveError(f"{name!r} is a file and a folder at once") from None
        self._folders.add(name)

    def write(self, name: str, source: IO[bytes], *, is_executable: bool) -> None:
        """A file of the archive."""
        parts = _parts(name)
        if not parts:
            raise ArchiveError(f"{name[:80]!r}: a file without a name")
        name = "/".join(parts)
        for depth in range(1, len(parts)):
            self._make("/".join(parts[:depth]))
        self._count(name)
        try:
            handle = os.open(self._folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        except (FileExistsError, IsADirectoryError):
            raise ArchiveError(f"{name!r} is in the archive twice") from None
        with open(handle, "wb") as target:
            head = b""
            while chunk := source.read(_CHUNK):
                head = head or chunk[:4]
                self.size_bytes += len(chunk)
                if self.size_bytes > self.bounds.size_bytes:
                    raise ArchiveError(
                        f"more than {self.bounds.size_bytes:,} bytes when unpacked (at {name!r}); that is the limit"
                    )
                target.write(chunk)
            runs = is_executable or head.startswith((b"#!", b"\x7fELF"))
            os.fchmod(handle, 0o555 if runs else 0o444)
        self.files.append(name)

    def _count(self, name: str) -> None:
        if len(self.files) + len(self._folders) >= self.bounds.entries:
            raise ArchiveError(f"more than {self.bounds.entries:,} files and folders (at {name!r}); that is the limit")


def _parts(name: str) -> list[str]:
    """The components of an entry's name. Raises ArchiveError unless it stays below the folder and is plain text."""
    if name.startswith("/"):
        raise ArchiveError(f"{name[:80]!r}: an absolute path; name files relative to the bundle")
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise ArchiveError(f"{name[:80]!r}: a path that leaves the bundle")
    if not parts:
        return []
    if "\\" in name or not name.isprintable():
        raise ArchiveError(f"{name[:80]!r}: a name with a backslash or unprintable characters")
    if len(name.encode("utf-8", "replace")) > _MAX_NAME or any(len(part.encode()) > 255 for part in parts):
        raise ArchiveError(f"{name[:80]!r}…: a name that is too long")
    if len(parts) > _MAX_DEPTH:
        raise ArchiveError(f"{name[:80]!r}…: folders nested more than {_MAX_DEPTH} deep")
    return parts


def _root(folder: Path) -> Path:
    """The folder of the bundle: the only entry of the archive if that is a folder, as when one was packed whole."""
    entries = list(folder.iterdir())
    return entries[0] if len(entries) == 1 and entries[0].is_dir() else folder


# -- zip ---------------------------------------------------------------------------------------------------------------


def _unpack_zip(file: BinaryIO, writer: _Writer) -> None:
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


# -- tar ---------------------------------------------------------------------------------------------------------------


class _Bounded:
    """A stream that ends with an error when more comes out of it than can be right."""

    def __init__(self, source: Any, size: int) -> None:
        self._source = source
        self._left = size

    def read(self, size: int = -1) -> bytes:
        """As of any file; never more than a chunk at once."""
        data: bytes = self._source.read(min(size, _CHUNK) if size >= 0 else _CHUNK)
        self._left -= len(data)
        if self._left < 0:
            raise ArchiveError("more bytes when unpacked than a bundle may have")
        return data


class _XZ:
    """Decompresses xz within a bound on memory, which `lzma.LZMAFile` cannot."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self._decoder = lzma.LZMADecompressor(memlimit=_DECODER_BYTES)

    def read(self, size: int) -> bytes:
        """Up to `size` bytes; nothing at the end of the stream."""
        while not self._decoder.eof:
            data = self._source.read(_CHUNK) if self._decoder.needs_input else b""
            if not data and self._decoder.needs_input:
                raise EOFError("the compressed data ends early")
            if found := self._decoder.decompress(data, size):
                return found
        return b""


class _Entry(tarfile.TarInfo):
    """A tar header that refuses long attribute blocks before they are read."""

    _BLOCKS = (
        tarfile.XHDTYPE,
        tarfile.XGLTYPE,
        tarfile.SOLARIS_XHDTYPE,
        tarfile.GNUTYPE_LONGNAME,
        tarfile.GNUTYPE_LONGLINK,
    )

    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        if self.type == tarfile.GNUTYPE_SPARSE or (self.type in self._BLOCKS and not 0 <= self.size <= _MAX_HEADER):
            raise ArchiveError(f"{self.name[:80]!r}: a header that no bundle needs")
        return super()._proc_member(archive)  # type: ignore[misc,no-any-return]


@contextmanager
def _decompressed(file: BinaryIO, kind: Kind) -> Iterator[Any]:
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


def _unpack_tar(file: BinaryIO, kind: Kind, writer: _Writer) -> None:
    bound = writer.bounds.size_bytes + writer.bounds.entries * (1024 + 2 * _MAX_NAME) + 2**20
    try:
        with _decompressed(file, kind) as stream:
            source: Any = _Bounded(stream, bound)
            with tarfile.open(fileobj=source, mode="r|", tarinfo=_Entry, errorlevel=2) as archive:
                for number, entry in enumerate(archive):
                    if number > 2 * writer.bounds.entries:
                        raise ArchiveError(f"more than {2 * writer.bounds.entries:,} entries")
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
        raise ArchiveError(f"a broken {kind} file: {error}") from None
    except OSError as error:
        if error.errno is None:  # what gzip and bz2 raise for bad data; a full disk has a number
            raise ArchiveError(f"a broken {kind} file: {error}") from None
        raise


def _take(archive: tarfile.TarFile, entry: tarfile.TarInfo, writer: _Writer) -> None:
    if entry.isdir():
        writer.make(entry.name)
        return
    if not entry.isreg() or entry.issparse():
        raise ArchiveError(f"{entry.name[:80]!r}: {_tar_kind(entry)}; only files and folders are taken")
    source = archive.extractfile(entry)
    assert source is not None
    with source:
        writer.write(entry.name, source, is_executable=bool(entry.mode & 0o111))


def _tar_kind(entry: tarfile.TarInfo) -> str:
    if entry.issym() or entry.islnk():
        return "a link"
    return "a device or a pipe" if entry.isdev() else "an entry of an unknown kind"


def _special(mode: int) -> str:
    return "a link" if stat.S_ISLNK(mode) else "a device or a pipe"
