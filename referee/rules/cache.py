"""Whether kernels are compiled, and where they are kept: known without what compiles them."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

IS_COMPILED: bool = os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")


class NumbaVersionError(ImportError):
    """The numba that is installed keeps compiled code in another way than those that were tested."""


def cache_root() -> Path:
    """The folder of all compiled kernels: `NUMBA_CACHE_DIR`, else `bot-arena/numba` under the user's cache folder."""
    given = os.environ.get("NUMBA_CACHE_DIR")
    if given:
        return Path(given)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "bot-arena" / "numba"


def is_writable(folder: Path) -> bool:
    """Return whether files can be made in a folder; it is made if need be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
