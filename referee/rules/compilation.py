"""Reports which function is being compiled, for progress output.

It is separate from `referee.rules.jit` because every change there invalidates all compiled code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from referee.rules.cache import IS_COMPILED


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
