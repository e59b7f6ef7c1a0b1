"""Jobs in the game slots of a worker: done, or called off when nobody waits for them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from arena.cluster.link import DONE, TAKEN
from arena.cluster.reports import Reports
from arena.worker import BundlePlace, packed
from referee.pool import SlotPool

T = TypeVar("T")

LOOK_S = 0.1
"""How often it is seen whether a job is still waited for."""


class Jobs:
    """What is done in `slots` game slots; bundles are unpacked below `folder`. `reports` takes what jobs tell.

    `worker` is the id of the process, told with every job.
    """

    def __init__(self, slots: int, *, sandbox: str, folder: Path, reports: Reports, worker: str) -> None:
        self.slots = slots
        self._folder, self._reports, self._worker = folder, reports, worker
        self._pool = SlotPool(slots, sandbox=sandbox, on_event=reports.tell)
        self._running: dict[str, Future[Any]] = {}

    def __len__(self) -> int:
        """How many are being done."""
        return len(self._running)

    def submit(self, function: Callable[..., T], *arguments: Any) -> Future[T]:
        """Have one slot do something."""
        return self._pool.submit(function, *arguments)

    def call(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Have every slot do something once, and wait; what each returned. Raises what it raises."""
        return [done.result() for done in [self._pool.submit(function, *arguments) for _ in range(self.slots)]]

    async def play(
        self,
        key: str,
        topic: str,
        function: Callable[..., Any],
        arguments: tuple[Any, ...],
        is_awaited: Callable[[], bool],
    ) -> bytes:
        """Do a job in a slot, and return its result pickled; call it off once `is_awaited` says no."""
        games = [str(game.id) for game in arguments[0]] if arguments and isinstance(arguments[0], (list, tuple)) else []
        self._reports.follow(games, topic)
        self._reports.put(topic, {"event": TAKEN, "key": key, "worker": self._worker})
        future = self._running[key] = self._pool.submit(packed, function, *map(self._localised, arguments))
        answer = asyncio.wrap_future(future)
        try:
            while not (await asyncio.wait({answer}, timeout=LOOK_S))[0]:
                if not is_awaited():
                    self._pool.call_off(future)
            result: bytes = answer.result()
            done = {"event": DONE, "key": key, "worker": self._worker, "result": result}
            self._reports.put(topic, done)
            return result
        finally:
            if not future.done():  # the worker is closing
                self._pool.call_off(future)
            self._reports.flush()
            self._reports.forget(games)
            self._running.pop(key, None)

    async def clear(self) -> None:
        """Call off what is left and see it end: the slots are free again, and no bot is left."""
        futures = list(self._running.values())
        for future in futures:
            self._pool.call_off(future)
        if futures:
            await asyncio.wait([asyncio.wrap_future(future) for future in futures])

    def abort(self) -> None:
        """Call off everything."""
        self._pool.abort()

    def close(self) -> None:
        """End the slots."""
        self._pool.abort()
        self._pool.shutdown(cancel_futures=True)

    def _localised(self, argument: Any) -> Any:
        """An argument as this machine needs it: bundles are unpacked in the folder of this worker."""
        if isinstance(argument, BundlePlace):
            return replace(argument, cache=str(self._folder / "unpacked"))
        return argument
