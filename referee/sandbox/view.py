"""Files of this machine that a bot can see: the system's programs, the arena's Python, and its own files.

What a bot's output or command names, and the sandbox's user may not read, is found for messages.
"""

from __future__ import annotations

import functools
import glob
import os
import re
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from referee.families import BUILT_IN, folder, homes
from referee.rules.cache import cache_root
from referee.sandbox.privilege import closed_folder

_SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store"),
    *(
        "/etc/ld.so.cache",
        "/etc/ld.so.conf",
        "/etc/ld.so.conf.d",
        # Debian's `java` is a link through the first, and its runtime reads the second through links in /usr/lib/jvm.
        "/etc/alternatives",
        "/etc/java*",
        "/etc/mono",
        "/etc/localtime",
    ),
    "/etc/ssl/openssl.cnf",  # without it node does not start under Landlock
)
_PACKAGES = ("bots", "protocol", "referee")

_TOO_MUCH = frozenset(
    {
        *("/", "/boot", "/dev", "/etc", "/home", "/mnt", "/opt", "/proc", "/root", "/run", "/srv", "/sys", "/var"),
        "/tmp",  # noqa: S108
    }
)
"""Folders that are never shown as a whole, even if a program is in them. The same holds for home folders."""


@dataclass(frozen=True, slots=True)
class View:
    """The files and folders that a bot is `shown`, read-only at their own paths; links to create; and the command."""

    command: tuple[str, ...]
    shown: tuple[str, ...]
    links: tuple[tuple[str, str], ...] = field(default=())
    """Symbolic links to create, as pairs of target and path."""


def make_view(command: Sequence[str], folder: str | None) -> View:
    """Find the files that a bot must see to run `command`.

    A bot in a folder of its own sees that folder and no other files of its owner. The folder is not in `shown`, since
    the sandbox levels choose its path. A bot without a folder sees the folders of all files named in its command line.
    """
    command = tuple(command)
    links, system = _system()
    shown = [*system, *_arena()]
    if folder is None:
        program = shutil.which(command[0]) or command[0]
        command = (program, *command[1:])
        for word in command:
            for path in named_files(word):
                shown += _surroundings(path)
    else:
        command = tuple(_from_folder(word, folder) for word in command)
    return View(command, tuple(_outermost(shown)), links)


def _from_folder(word: str, folder: str) -> str:
    """Make paths in the bot's own folder relative, since the sandbox may show the folder at another path."""
    # A path begins a word, or follows one of the signs that separate paths in arguments.
    return re.sub(rf"(?<![^=:,]){re.escape(folder.rstrip(os.sep))}{os.sep}(?=.)", "./", word)


def named_files(word: str) -> list[str]:
    """List the files and folders that a word of a command names, as in `file.py:name`, `--weights=FILE`, `a.jar:b`."""
    value = word.partition("=")[2]
    texts = dict.fromkeys((word, value, *word.split(":"), *value.split(":")))
    return [text for text in texts if text and os.path.exists(text)]


def is_shared(path: str) -> bool:
    """Return whether every bot sees this file, because it belongs to the system or the arena."""
    return _is_systems(path) or any(path.startswith(one + os.sep) for one in _arena())


def is_too_much(folder: str) -> bool:
    """Return whether a folder is never shown as a whole: a home folder or a large part of the machine."""
    return folder in _TOO_MUCH or folder == os.path.expanduser("~") or os.path.dirname(folder) == "/home"


@functools.cache
def _system() -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    links, shown = [], []
    for pattern in _SYSTEM:
        for path in glob.glob(pattern):
            if os.path.islink(path):
                # On most systems /bin and /lib are links into /usr, which is shown already.
                links.append((os.readlink(path), path))
            else:
                shown.append(path)
    return tuple(links), tuple(shown)


def _arena() -> list[str]:
    """List the folders of this Python, its packages, the arena's packages for bots, installed families and compiled
    kernels.
    """
    root = Path(__file__).resolve().parents[2]
    found = [sys.prefix, sys.base_prefix, str(cache_root()), *(str(root / name) for name in _PACKAGES)]
    found += [str(folder(family)) for family, module in homes().items() if not module.startswith(BUILT_IN)]
    return [path for path in found if os.path.isdir(path)]


def _surroundings(path: str) -> list[str]:
    """List the folder of a file and of every link target; for a program in a `bin` folder the parent of `bin`.

    For a folder, list the folder itself. Instead of a home folder or a large part of the machine, list the file alone.
    """
    folders = []
    path = os.path.abspath(path)
    # Links may form a circle.
    for _ in range(16):
        folder = path if os.path.isdir(path) else os.path.dirname(path)
        # An interpreter in `bin` has its library in a sibling of that folder.
        if folder != path and os.path.basename(folder) == "bin" and not is_too_much(os.path.dirname(folder)):
            folder = os.path.dirname(folder)
        shown = path if is_too_much(folder) else folder
        if not _is_systems(path) and not is_too_much(shown):
            folders.append(shown)
        if not os.path.islink(path):
            break
        path = os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path)))
    return folders


def _is_systems(path: str) -> bool:
    return any(path.startswith(one + "/") for one in _SYSTEM)


def _outermost(paths: Iterable[str]) -> list[str]:
    """Return the paths without those that lie inside another one."""
    found: list[str] = []
    for path in sorted(set(paths)):
        if not any(path == one or path.startswith(one + "/") for one in found):
            found.append(path)
    return found


REFUSED_CALL = re.compile(r"function not implemented|ENOSYS", re.IGNORECASE)
"""Message of a program that was refused a system call."""
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
