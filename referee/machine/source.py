"""Digests of the sources by which games are judged: rules, referee and protocol, and the versions of their compilers.

Two machines with the same digest judge every game alike; the same version number does not guarantee that.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from referee.families import folder, folder_of, homes

_COMPILERS = ("numba", "llvmlite", "numpy")
"""Packages that determine the compiled kernels."""
_LENGTH = 12


@cache
def release() -> str:
    """Return the version of the installed program, or `(not installed)`."""
    try:
        return version("bot-arena")
    except PackageNotFoundError:
        return "(not installed)"


@cache
def parts() -> Mapping[str, str]:
    """Return digests of the sources by name: each family, `protocol`, and the rest of `referee`. Also return the
    versions of the compilers. All are computed once per process.
    """
    folders = {family: folder(family) for family in homes()}
    digests = {family: _digest(place, ()) for family, place in folders.items()}
    for package in ("protocol", "referee"):
        digests[package] = _digest(folder_of(package), tuple(folders.values()))
    for name in _COMPILERS:
        try:
            digests[name] = version(name)
        except PackageNotFoundError:
            digests[name] = "none"
    return digests


@cache
def digest() -> str:
    """Return a digest of all parts as one short hexadecimal number."""
    return _short("\n".join(f"{name} {value}" for name, value in sorted(parts().items())).encode())


def _digest(folder: Path, without: tuple[Path, ...]) -> str:
    """Digest names and bytes of all Python files below a folder, in the order of their names."""
    hashed = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        if not any(path.is_relative_to(other) for other in without):
            data = path.read_bytes()
            # With the length, two different sets of files can never give the same bytes.
            hashed.update(f"{path.relative_to(folder).as_posix()}\0{len(data)}\0".encode() + data)
    return hashed.hexdigest()[:_LENGTH]


def _short(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:_LENGTH]
