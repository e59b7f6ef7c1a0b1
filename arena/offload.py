"""A process for work that would hold up this one, such as asking the rules: started when first needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from referee.pool import SlotPool

P = ParamSpec("P")
T = TypeVar("T")


class OffloadProcess:
    """Answers one question after another, of one thread; it is started again after `close`."""

    def __init__(self) -> None:
        self._pool: SlotPool | None = None

    @property
    def is_open(self) -> bool:
        """Whether there is a process."""
        return self._pool is not None

    def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a module-level function there and wait for its answer. Raises JobError, WorkerLostError."""
        if self._pool is None:
            self._pool = SlotPool(1)
        return self._pool.submit(function, *args, **kwargs).result()

    def interrupt(self) -> None:
        """Call off what it is doing, from any thread: bots that are being asked something are asked no more."""
        if pool := self._pool:
            pool.abort()

    def close(self) -> None:
        """End the process, once it has answered."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None
