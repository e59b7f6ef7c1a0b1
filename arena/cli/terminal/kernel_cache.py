"""A temporary folder for compiled kernels, used by one command if the usual folder is not writable.

Without this folder every process of a run, and every sample bot, would compile the same kernels for a minute. Bots
can only read the folder, like the usual one, because kernels are code.
"""

from __future__ import annotations

import argparse
import atexit
import os
import shutil
import tempfile
from pathlib import Path

from arena.cli.terminal import output
from arena.data_folder import is_passed_through
from referee.rules.cache import IS_COMPILED, cache_root, is_writable

_ADVICE = "set NUMBA_CACHE_DIR to a folder that you may write and that no bot may"


def have_folder(arguments: argparse.Namespace) -> None:
    """Create a cache folder for this run if kernels must be compiled and the usual folder is not writable."""
    root = cache_root()
    if not IS_COMPILED or is_writable(root) or not _is_cold(getattr(arguments, "family", None)):
        return
    try:
        folder = _make(root)
    except OSError as error:
        output.note(
            f"{root} cannot be written, nor can {tempfile.gettempdir()} ({error.strerror}): every process compiles "
            f"its kernels, a minute each; {_ADVICE}"
        )
        return
    os.environ["NUMBA_CACHE_DIR"] = str(folder)
    _forget_folders()
    output.note(f"{root} cannot be written: kernels are compiled for this run alone, a minute or two; {_ADVICE}")


def _make(root: Path) -> Path:
    """Create a folder with a copy of the usual cache, removed when this process ends. Raises OSError."""
    folder = Path(tempfile.mkdtemp(prefix="arena-kernels-"))
    atexit.register(_remove, folder, os.getpid())
    if is_passed_through():  # bots are other users, who may read it and nothing else
        folder.chmod(0o755)
    if root.is_dir() and os.access(root, os.R_OK | os.X_OK):
        shutil.copytree(root, folder, dirs_exist_ok=True, copy_function=shutil.copyfile)
    return folder


def _remove(folder: Path, process: int) -> None:
    """Remove the folder, unless this process is a child of the one that made it."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def _is_cold(family: object) -> bool:
    """Return whether kernels of this family (of any family if it is unknown or None) are not compiled yet."""
    from referee.machine.warmup import is_cold
    from referee.rules import families

    known = families()
    return any(is_cold(name) for name in ([family] if family in known else known))


def _forget_folders() -> None:
    """Clear the cached paths of kernel folders, so that kernels are looked for in the new folder."""
    from referee.rules.jit import cache_folder

    cache_folder.cache_clear()
