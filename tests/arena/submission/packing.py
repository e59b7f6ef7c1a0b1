"""Builders of valid and hostile bundles."""

from __future__ import annotations

import io
import stat
import tarfile
import zipfile
from collections.abc import Mapping, Sequence

SCRIPT = b"#!/bin/sh\nexit 0\n"
MANIFEST = b'families = ["loa"]\ncommand = ["./run.sh"]\n'
HONEST: Mapping[str, bytes] = {"bot.toml": MANIFEST, "run.sh": SCRIPT, "data/weights.txt": b"1 2 3"}


def zipped(files: Mapping[str, bytes], *, modes: Mapping[str, int] | None = None, **options: int) -> bytes:
    """Return a zip file with these entries; names are not checked."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", **options) as archive:  # type: ignore[arg-type]
        for name, data in files.items():
            entry = zipfile.ZipInfo(name)
            entry.create_system = 3
            entry.compress_type = options.get("compression", zipfile.ZIP_DEFLATED)
            entry.external_attr = (modes or {}).get(name, stat.S_IFREG | 0o644) << 16
            archive.writestr(entry, data)
    return target.getvalue()


def tarred(files: Mapping[str, bytes], *, mode: str = "w", more: Sequence[tarfile.TarInfo] = ()) -> bytes:
    """Return a tar file with these entries, and `more` entries without content."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode=mode) as archive:  # type: ignore[call-overload]
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
        for entry in more:
            archive.addfile(entry)
    return target.getvalue()


def special(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    """Return a tar entry of this type."""
    entry = tarfile.TarInfo(name)
    entry.type = kind
    entry.linkname = target
    return entry
