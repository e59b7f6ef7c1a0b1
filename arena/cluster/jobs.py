"""Runs jobs in the game slots of a worker, and cancels those that the scheduler no longer waits for."""

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
from arena.cluster.wire_config import FINISH, RESULT, TAKEN
from referee.machine.pool import JobError, SlotPool, WorkerLostError

T = TypeVar("T")

POLL_INTERVAL_S = 0.1
"""How often a job checks whether the scheduler still waits for it."""


class Jobs:
    """The jobs in `slots` game slots. Bundles are unpacked below `folder`; `event_stream` sends the events of jobs.

    `worker` is the id of this process, which every job reports.
    """

    def __init__(self, slots: int, *, sandbox: str, folder: Path, event_stream: EventStream, worker: str) -> None:
        self.slots = slots
        self._folder, self._event_stream, self._worker = folder, event_stream, worker
        self._pool = SlotPool(slots, sandbox=sandbox, on_event=self._send_event)
        self._running: dict[str, Future[str]] = {}
        self._keys: dict[str, str] = {}
        """The job of each running game."""

    def __len__(self) -> int:
        """Return the number of running jobs."""
        return len(self._running)

    def submit(self, function: Callable[..., T], *arguments: Any) -> Future[T]:
        """Run a function in one slot."""
        return self._pool.submit(function, *arguments)

    def call(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Run a function once in every slot and wait; return all results. Raises the function's exception."""
        return [done.result() for done in [self._pool.submit(function, *arguments) for _ in range(self.slots)]]

    async def play(
        self,
        key: str,
        topic: str,
        function: Callable[..., Any],
        arguments: tuple[Any, ...],
        is_awaited: Callable[[], bool],
    ) -> None:
        """Run a job in a slot and send its result as JSON, or its error; cancel it once `is_awaited` returns False."""
        games = [str(game.id) for game in arguments[0]] if arguments and isinstance(arguments[0], (list, tuple)) else []
        self._event_stream.follow(games, topic)
        self._keys.update(dict.fromkeys(games, key))
        self._event_stream.send_soon(topic, {"event": TAKEN, "key": key, "worker": self._worker})
        future = self._running[key] = self._pool.submit(call_encoded, function, *map(self._localise, arguments))
        answer = asyncio.wrap_future(future)
        try:
            while not (await asyncio.wait({answer}, timeout=POLL_INTERVAL_S))[0]:
                if not is_awaited():
                    self._pool.call_off(future)
            self._event_stream.send_soon(topic, {"event": RESULT, "key": key, "result": answer.result()})
        except (JobError, WorkerLostError) as error:
            found = {"error": str(error), "is_lost": isinstance(error, WorkerLostError)}
            self._event_stream.send_soon(topic, {"event": RESULT, "key": key, **found})
        finally:
            if not future.done():  # the worker is closing
                self._pool.call_off(future)
            self._event_stream.flush()
            self._event_stream.forget(games)
            for game in games:
                self._keys.pop(game, None)
            self._running.pop(key, None)

    async def clear(self) -> None:
        """Cancel all jobs and wait until they have ended; then all slots are free and no bot is running."""
        futures = list(self._running.values())
        for future in futures:
            self._pool.call_off(future)
        if futures:
            await asyncio.wait([asyncio.wrap_future(future) for future in futures])

    def abort(self) -> None:
        """Cancel all jobs."""
        self._pool.abort()

    def close(self) -> None:
        """End the slots."""
        self._pool.abort()
        self._pool.shutdown(cancel_futures=True)

    def _send_event(self, event: dict[str, Any]) -> None:
        """Send the event of a slot; an event with a result also gets the key of the job. Thread-safe."""
        if event["event"] == FINISH:
            event["key"] = self._keys.get(event["game"], "")
        self._event_stream.add(event)

    def _localise(self, argument: Any) -> Any:
        """Convert an argument for this machine: bundles are unpacked in the folder of this worker."""
        if isinstance(argument, BundlePlace):
            return replace(argument, cache=str(self._folder / "unpacked"))
        return argument
