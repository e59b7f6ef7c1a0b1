"""Find the files named in a bot's output or command that the sandbox's user may not read."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator

from referee.sandbox.privilege import closed_folder
from referee.sandbox.view import is_shared

_WORD = re.compile(r"[^\s'\"`:;,=()\[\]<>]+")


def closed_place(path: str) -> str:
    """Return the path, or a folder above it, if not every user may read it; empty if all users may read the path."""
    mode = os.stat(path).st_mode
    needed = stat.S_IROTH | (stat.S_IXOTH if stat.S_ISDIR(mode) else 0)
    return closed_folder(path) or (path if mode & needed != needed else "")


def named_paths(text: str, command: Iterable[str], folder: str | None) -> Iterator[str]:
    """Yield the existing files and folders that `text` names, then those that `command` names.

    Those that every bot needs (of the system, of the arena) come last, and only if `text` names them.
    """
    here = folder or os.getcwd()
    said, run = (
        [path for word in _WORD.findall(words) if os.path.exists(path := os.path.normpath(os.path.join(here, word)))]
        for words in (text, " ".join(command))
    )
    yield from (path for path in (*said, *run) if not is_shared(path))
    yield from filter(is_shared, said)


def closed_file(text: str, command: Iterable[str], folder: str | None) -> str:
    """Return the first of the `named_paths` that not every user may read, or a folder above it; empty if none."""
    return next((place for path in named_paths(text, command, folder) if (place := closed_place(path))), "")
