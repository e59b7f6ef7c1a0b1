"""Keeps the collector of garbage from looking again and again through what is loaded for good.

A server holds a million objects of its libraries and of compiled rules. A full collection looks at each of them: a
third of a second, in the middle of whatever is being answered. Refuses to know what is served.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

LONG_S = 0.05
"""A full collection that takes longer finds too much that stays."""


def set_aside() -> None:
    """What is loaded by now is for good: no collection is to look through it, not even one in the first large page."""
    gc.collect()
    gc.freeze()


@contextmanager
def settled(clock: Callable[[], float] = time.thread_time) -> Iterator[None]:
    """For the length of a `with`: what a long full collection leaves is not looked through again.

    Such an object still goes when nobody refers to it any more; only a ring of them would stay. A collection gets long
    only when much was loaded since the last long one, so that happens a few times in a server's life.
    """
    began = 0.0

    def watch(phase: str, facts: Mapping[str, Any]) -> None:
        nonlocal began
        if facts["generation"] != 2:
            return
        if phase == "start":
            began = clock()
        elif clock() - began > LONG_S:
            gc.freeze()

    gc.callbacks.append(watch)
    try:
        yield
    finally:
        gc.callbacks.remove(watch)
        gc.unfreeze()
