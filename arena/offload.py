"""Calls functions in a separate process if they would block this one, such as those of the rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from referee.machine.pool import SlotPool

P = ParamSpec("P")
T = TypeVar("T")


class OffloadProcess:
    """A process that one thread calls functions in. It starts on first use, and again after `close`."""

    def __init__(self) -> None:
        self._pool: SlotPool | None = None

    @property
    def is_open(self) -> bool:
        """True while the process exists."""
        return self._pool is not None

    def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a module-level function there and wait for its result. Raises JobError, WorkerLostError."""
        if self._pool is None:
            self._pool = SlotPool(1)
        return self._pool.submit(function, *args, **kwargs).result()

    def interrupt(self) -> None:
        """Cancel the current call, including bots that it runs. Thread-safe."""
        if pool := self._pool:
            pool.abort()

    def close(self) -> None:
        """End the process after its current call."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None
