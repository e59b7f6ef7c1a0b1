"""Long computations in compiled code that Ctrl-C still ends at once.

A kernel runs without the interpreter lock but never looks for signals: in the main thread it would answer Ctrl-C only
when it is done.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


def interruptible(function: Callable[..., T], *arguments: Any) -> T:
    """`function(*arguments)` in a thread of its own; raises what it raises, and KeyboardInterrupt at once."""
    done: list[T] = []
    failed: list[BaseException] = []

    def work() -> None:
        try:
            done.append(function(*arguments))
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return done[0]
