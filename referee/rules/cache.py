"""Facts about compilation without importing numba: whether it is on, its progress, the folder of compiled code.

The module is separate from `referee.rules.jit` because every change of that file invalidates all compiled code.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

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
        # Tried, as access(2) knows nothing of Landlock and says yes to a sandboxed bot.
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def when_compiling(report: Callable[[str], None], packages: tuple[str, ...]) -> None:
    """Call `report` with the name of each function of `packages` whose compilation starts in this process from now on.

    Functions loaded from the cache are not reported.
    """
    if not IS_COMPILED:
        return
    from numba.core import event

    class Listener(event.Listener):  # type: ignore[misc]
        def on_start(self, event: Any) -> None:
            function = event.data["dispatcher"].py_func
            if function.__module__.partition(".")[0] in packages:
                report(function.__name__)

        def on_end(self, event: Any) -> None:
            pass

    event.register("numba:compile", Listener())
