"""Says which function is being compiled, for whoever shows that to somebody who waits.

Apart from `referee.rules.jit`, whose every change makes all compiled code stale.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from referee.rules.cache import IS_COMPILED


def when_compiling(tell: Callable[[str], None], packages: tuple[str, ...]) -> None:
    """From now on call `tell` with the name of each function of `packages` as its compilation begins in this process.

    What is loaded from the cache is not told of.
    """
    if not IS_COMPILED:
        return
    from numba.core import event

    class Told(event.Listener):  # type: ignore[misc]
        def on_start(self, event: Any) -> None:
            function = event.data["dispatcher"].py_func
            if function.__module__.partition(".")[0] in packages:
                tell(function.__name__)

        def on_end(self, event: Any) -> None:
            pass

    event.register("numba:compile", Told())
