"""A folder for a program that writes where it runs, which in a sandbox it may not.

The folder is new and the program's own; everything that lies in the present one is there as a link.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator

MOST = 4096
"""How many files are linked one by one; beyond that folders are linked whole, and cannot be written to."""


@contextlib.contextmanager
def workplace() -> Iterator[str | None]:
    """A folder to run a program in, gone at the end; None where the present one will do, or none can be had."""
    here = os.getcwd()
    if os.access(here, os.W_OK):
        yield None
        return
    try:
        found = tempfile.mkdtemp(prefix="client-")
    except OSError:
        yield None
        return
    try:
        _mirror(here, found)
        yield found
    finally:
        shutil.rmtree(found, ignore_errors=True)


def _mirror(source: str, target: str) -> None:
    """Folders as folders, so that there may be new files in each; files as links."""
    waiting, count = [(source, target)], 0
    while waiting:
        source, target = waiting.pop(0)
        with os.scandir(source) as entries:
            for entry in entries:
                count += 1
                place = os.path.join(target, entry.name)
                if entry.is_dir(follow_symlinks=False) and count < MOST and os.access(entry.path, os.R_OK | os.X_OK):
                    os.mkdir(place)
                    waiting.append((entry.path, place))
                else:
                    os.symlink(entry.path, place)
