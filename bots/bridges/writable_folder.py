"""A folder for a program that writes into its working folder, which a sandbox does not allow.

The folder is new; it links to the files of the present working folder.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator

MAX_LINKS = 4096
"""Files linked one by one; beyond that, whole folders are linked, which cannot be written to."""


@contextlib.contextmanager
def writable_folder() -> Iterator[str | None]:
    """Yield a temporary working folder; None if the present one is writable or none can be created."""
    here = os.getcwd()
    if os.access(here, os.W_OK):
        yield None
        return
    try:
        folder = tempfile.mkdtemp(prefix="client-")
    except OSError:
        yield None
        return
    try:
        _mirror(here, folder)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _mirror(source: str, target: str) -> None:
    """Create the folders of `source` in `target`, so that each is writable, and link the files."""
    waiting, count = [(source, target)], 0
    while waiting:
        source, target = waiting.pop(0)
        with os.scandir(source) as entries:
            for entry in entries:
                count += 1
                place = os.path.join(target, entry.name)
                if (
                    entry.is_dir(follow_symlinks=False)
                    and count < MAX_LINKS
                    and os.access(entry.path, os.R_OK | os.X_OK)
                ):
                    os.mkdir(place)
                    waiting.append((entry.path, place))
                else:
                    os.symlink(entry.path, place)
