"""Unpacks untrusted tar archives, plain or compressed."""

from __future__ import annotations

import bz2
import gzip
import lzma
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Literal, Self

import zstandard

from arena.submission.writer import MAX_NAME, ArchiveError, FolderWriter

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
            if found := self._decoder.decompress(data, size):
                return found
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
