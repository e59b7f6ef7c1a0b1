"""What a worker does, in a file for whoever watches over it: its word says what, its age whether the process lives.

`warming` up, `waiting` for a scheduler, `ready`, `leaving`. A probe reads the file; nobody needs to reach a port.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

from arena.log import logger

HEARTBEAT_INTERVAL_S = 5.0
"""How often the file is written anew: one that is several times as old belongs to a process that hangs."""


class Heartbeat:
    """The file `state` in a folder. The event loop writes it: where that hangs, the file grows old."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "state"
        self._word = "warming"
        self._is_told = False
        self._log = logger("worker")

    def become(self, word: str) -> None:
        """The worker does something else now."""
        self._word = word
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            fresh = self.path.with_name("state.new")  # whoever looks at any moment finds a whole word
            fresh.write_text(f"{word}\n", encoding="ascii")
            fresh.replace(self.path)
            self._is_told = False
        except OSError as error:
            if not self._is_told:
                self._log.warning("state not written", file=str(self.path), error=error.strerror or str(error))
            self._is_told = True

    @contextlib.asynccontextmanager
    async def beating(self) -> AsyncIterator[None]:
        """Write the file anew for as long as the `with` lasts; then it is gone."""
        task = asyncio.create_task(self._beat())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            with contextlib.suppress(OSError):
                self.path.unlink(missing_ok=True)

    async def _beat(self) -> None:
        while True:
            self.become(self._word)
            await asyncio.sleep(HEARTBEAT_INTERVAL_S)
