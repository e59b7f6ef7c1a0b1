"""An event loop in a separate thread; its tasks end with the loop."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class LoopThread:
    """A loop that runs from construction until `end`."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T], timeout_s: float | None = None) -> T:
        """Run a coroutine in the loop and return its result. Call this from another thread.

        Raises TimeoutError, and the exceptions of the coroutine.
        """
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout_s)

    def call(self, function: Callable[P, None], *args: P.args, **_: P.kwargs) -> None:
        """Schedule a call in the loop; ignored once the loop has ended. Thread-safe."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(function, *args)

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Start a task. Call this in the loop only."""
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def cancel(self) -> None:
        """Cancel all tasks and wait for their end. Call this in the loop only."""
        while self._tasks:
            for task in self._tasks:  # repeatedly: a task that waits for two things may swallow one cancellation
                task.cancel()
            await asyncio.wait(self._tasks, timeout=0.1)

    def end(self, timeout_s: float) -> None:
        """End the loop and its thread."""
        self.call(self._loop.stop)
        self._thread.join(timeout_s)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
        self._loop.close()
