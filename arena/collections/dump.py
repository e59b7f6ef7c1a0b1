"""One month's dump: the games that ended in that month, without private data.

Its first line is a heading with the license. Every other line is a game record plus the data from which ratings follow
(`commit_number`, `pool`, `is_rated`, `follows`).
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import zstandard

if TYPE_CHECKING:
    from arena.documents.game import GameItem

FORM = "arena-games-1"
ENDING = ".ndjson.zst"
_CHUNK = 1024 * 1024
_LEVEL = 9


@dataclass(frozen=True, slots=True)
class Dump:
    """One file: number of games, size, SHA-256, first and last commit number."""

    file: str
    month: str
    games: int
    bytes: int
    sha256: str
    first: int
    last: int


class DamagedError(Exception):
    """A dump that differs from the index."""


class MonthFile:
    """A month's file being written: a verified copy of the old content, then a new zstd frame."""

    def __init__(self, folder: Path, month: str, before: Dump | None, heading: Mapping[str, Any]) -> None:
        self._dump = before or Dump(f"{month}{ENDING}", month, 0, 0, "", 0, 0)
        self._path = folder / f"{self._dump.file}.new"
        self._total = hashlib.sha256()
        self._size = 0
        self._old = folder / self._dump.file
        self._heading = None if before else heading

    def __enter__(self) -> MonthFile:
        self._file = open(self._path, "wb")
        try:
            if self._heading is None:
                self._copy()
            self._packer = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True).compressobj()
            if self._heading is not None:
                self._pack(_line(self._heading))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._path.unlink(missing_ok=True)

    def add(self, line: GameItem, data: Mapping[str, Any]) -> None:
        """Append a game."""
        self._pack(_line(data))
        number = line.commit_number or 0
        first = self._dump.first or number
        self._dump = replace(self._dump, games=self._dump.games + 1, first=first, last=number)

    def close(self) -> Dump:
        """Finish the frame, sync the file to disk, and return its description."""
        self._write(self._packer.flush())
        self._file.flush()
        os.fsync(self._file.fileno())
        return replace(self._dump, bytes=self._size, sha256=self._total.hexdigest())

    def _copy(self) -> None:
        left = self._dump.bytes
        with open(self._old, "rb") as old:
            while left and (chunk := old.read(min(left, _CHUNK))):
                self._write(chunk)
                left -= len(chunk)
        if left or self._total.hexdigest() != self._dump.sha256:
            raise DamagedError(f"{self._dump.file} differs from the index")

    def _pack(self, content: bytes) -> None:
        self._write(self._packer.compress(content))

    def _write(self, content: bytes) -> None:
        self._file.write(content)
        self._total.update(content)
        self._size += len(content)


def document(line: GameItem, data: bytes, ancestors: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    """Return a game as written in dumps: the public record, and the data from which ratings follow.

    `follows` lists, for each side, the earlier versions of the bot, latest first: a version new to a pool starts from
    the mu of the latest one that has a rating there.
    """
    return {
        **without_logs(json.loads(data)),
        "commit_number": line.commit_number,
        "tournament": line.tournament_id,
        "pool": line.pool,
        "is_rated": line.is_rated,
        "follows": {side: list(ancestors.get(getattr(line, side), ())) for side in ("first", "second")},
    }


def without_logs(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the public part of a record: the standard error of bots is for their owners only."""
    return {**data, "logs": {}}


def read(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the games of one dump, without its heading. Raises OSError, ValueError, zstandard.ZstdError."""
    with open(path, "rb") as file, zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True) as source:
        rest = b""
        is_heading = True
        while chunk := source.read(_CHUNK):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                if not is_heading:
                    yield json.loads(line)
                is_heading = False
        if rest:
            raise ValueError(f"{path} ends in the middle of a line")


def _line(data: Mapping[str, Any]) -> bytes:
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
