"""Writes the entries of an archive below a new folder: plain files with plain relative names, within limits.

Bytes are counted as they are written: sizes in the archive are not trusted.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import IO

MAX_NAME = 500
_CHUNK = 64 * 1024
_MAX_DEPTH = 24
_BY_PRODUCTS = frozenset((".ds_store", "thumbs.db", "desktop.ini", "icon\r"))
"""Files that macOS and Windows write into folders that people look at, in lower case."""


class ArchiveError(ValueError):
    """An archive that is refused; the message names the entry and the fault."""


@dataclass(frozen=True, slots=True)
class BundleBounds:
    """Limits of an archive: unpacked bytes, and number of files and folders."""

    size_bytes: int = 256 * 2**20
    entries: int = 2000


class FolderWriter:
    """Writes files below a folder and enforces the limits. By-products of macOS and Windows are left out."""

    def __init__(self, folder: Path, bounds: BundleBounds) -> None:
        self._folder = folder
        self.bounds = bounds
        self._folders: set[str] = set()
        self.files: list[str] = []
        self.size_bytes = 0

    def make(self, name: str) -> None:
        if is_by_product(name):
            return
        parts = _parts(name)
        for depth in range(1, len(parts) + 1):
            self._make("/".join(parts[:depth]))

    def _make(self, name: str) -> None:
        if name in self._folders:
            return
        self._count(name)
        try:
            (self._folder / name).mkdir()
            (self._folder / name).chmod(0o755)
        except FileExistsError:
            raise ArchiveError(f"{name!r} is both a file and a folder") from None
        self._folders.add(name)

    def write(self, name: str, source: IO[bytes], *, is_executable: bool) -> None:
        if is_by_product(name):
            return
        parts = _parts(name)
        if not parts:
            raise ArchiveError(f"{name[:80]!r}: missing file name")
        name = "/".join(parts)
        for depth in range(1, len(parts)):
            self._make("/".join(parts[:depth]))
        self._count(name)
        try:
            handle = os.open(self._folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        except (FileExistsError, IsADirectoryError):
            raise ArchiveError(f"duplicate entry {name!r}") from None
        with open(handle, "wb") as target:
            head = b""
            while chunk := source.read(_CHUNK):
                head = head or chunk[:4]
                self.size_bytes += len(chunk)
                if self.size_bytes > self.bounds.size_bytes:
                    raise ArchiveError(f"the unpacked bundle exceeds {self.bounds.size_bytes:,} bytes (at {name!r})")
                target.write(chunk)
            runs = is_executable or head.startswith((b"#!", b"\x7fELF"))
            os.fchmod(handle, 0o555 if runs else 0o444)
        self.files.append(name)

    def _count(self, name: str) -> None:
        if len(self.files) + len(self._folders) >= self.bounds.entries:
            raise ArchiveError(f"more than {self.bounds.entries:,} files and folders (at {name!r})")


def is_by_product(name: str) -> bool:
    """Return whether an entry was added by macOS (`__MACOSX/`, `._NAME`, `.DS_Store`) or Windows, not by the author."""
    *folders, last = name.rstrip("/").split("/")
    return "__MACOSX" in (*folders, last) or last.startswith("._") or last.lower() in _BY_PRODUCTS


def _parts(name: str) -> list[str]:
    """Return the components of an entry's name. Raises ArchiveError for a name that leaves the folder or is not plain
    text.
    """
    if name.startswith("/"):
        raise ArchiveError(f"{name[:80]!r}: absolute path; use paths relative to the bundle")
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise ArchiveError(f"{name[:80]!r}: path outside the bundle")
    if not parts:
        return []
    if "\\" in name or not name.isprintable():
        raise ArchiveError(f"{name[:80]!r}: backslash or unprintable character in the name")
    if len(name.encode("utf-8", "replace")) > MAX_NAME or any(len(part.encode()) > 255 for part in parts):
        raise ArchiveError(f"{name[:80]!r}…: name too long")
    if len(parts) > _MAX_DEPTH:
        raise ArchiveError(f"{name[:80]!r}…: folders nested deeper than {_MAX_DEPTH}")
    return parts
