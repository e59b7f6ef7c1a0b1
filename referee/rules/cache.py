"""The compilation switch and the folder of compiled code, available without importing numba."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

IS_COMPILED: bool = os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")


class NumbaVersionError(ImportError):
    """The installed numba stores compiled code in another way than the tested versions."""


def cache_root() -> Path:
    """Return the folder of all compiled kernels: `NUMBA_CACHE_DIR`, or `bot-arena/numba` in the user's cache."""
    given = os.environ.get("NUMBA_CACHE_DIR")
    if given:
        return Path(given)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "bot-arena" / "numba"


def is_writable(folder: Path) -> bool:
    """Return whether files can be created in a folder. Create the folder if it does not exist."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
