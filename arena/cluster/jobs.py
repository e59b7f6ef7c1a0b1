"""Jobs in the game slots of a worker: done, or called off when nobody waits for them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from arena.cluster.event_stream import EventStream
from arena.cluster.game_runner import BundlePlace
from arena.cluster.result_codec import call_encoded
from arena.cluster.wire_config import FINISH, TAKEN
from referee.pool import SlotPool

T = TypeVar("T")

POLL_INTERVAL_S = 0.1
"""How often it is seen whether a job is still waited for."""


class Jobs:
    """What is done in `slots` game slots; bundles are unpacked below `folder`. `reports` takes what jobs tell.

    `worker` is the id of the process, told with every job.
    """

    def __init__(self, slots: int, *, sandbox: str, folder: Path, event_stream: EventStream, worker: str) -> None:
        self.slots = slots
        self._folder, self._event_stream, self._worker = folder, event_stream, worker
        self._pool = SlotPool(slots, sandbox=sandbox, on_event=self._tell)
        self._running: dict[str, Future[str]] = {}
        self._keys: dict[str, str] = {}
        """The job that each game being played belongs to."""

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
    ) -> str:
        """Do a job in a slot, and return its answer as JSON; call it off once `is_awaited` says no."""
        games = [str(game.id) for game in arguments[0]] if arguments and isinstance(arguments[0], (list, tuple)) else []
        self._event_stream.follow(games, topic)
        self._keys.update(dict.fromkeys(games, key))
        self._event_stream.put(topic, {"event": TAKEN, "key": key, "worker": self._worker})
        future = self._running[key] = self._pool.submit(call_encoded, function, *map(self._localised, arguments))
        answer = asyncio.wrap_future(future)
        try:
            while not (await asyncio.wait({answer}, timeout=POLL_INTERVAL_S))[0]:
                if not is_awaited():
                    self._pool.call_off(future)
            return answer.result()
        finally:
            if not future.done():  # the worker is closing
                self._pool.call_off(future)
            self._event_stream.flush()
            self._event_stream.forget(games)
            for game in games:
                self._keys.pop(game, None)
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

    def _tell(self, event: dict[str, Any]) -> None:
        """Pass on what a slot tells, from any thread; with a result comes the job that it belongs to."""
        if event["event"] == FINISH:
            event["key"] = self._keys.get(event["game"], "")
        self._event_stream.tell(event)

    def _localised(self, argument: Any) -> Any:
        """An argument as this machine needs it: bundles are unpacked in the folder of this worker."""
        if isinstance(argument, BundlePlace):
            return replace(argument, cache=str(self._folder / "unpacked"))
        return argument
