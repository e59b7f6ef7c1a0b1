"""The heartbeat file of a worker, for liveness and readiness probes: its content is the worker's state, its mtime the
time of the last heartbeat.

States: `warming` up, `waiting` for a scheduler, `ready`, `leaving`. Probes read the file and need no port.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

from arena.log import logger

HEARTBEAT_INTERVAL_S = 5.0
"""How often the file is rewritten: a file several times as old belongs to a hanging process."""


class Heartbeat:
    """The file `state` in a folder. The event loop writes it, so that the file ages when the loop hangs."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "state"
        self._word = "warming"
        self._is_logged = False
        self._log = logger("worker")

    def become(self, word: str) -> None:
        """Change the state of the worker."""
        self._word = word
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            fresh = self.path.with_name("state.new")  # atomic: readers never see a partial word
            fresh.write_text(f"{word}\n", encoding="ascii")
            fresh.replace(self.path)
            self._is_logged = False
        except OSError as error:
            if not self._is_logged:
                self._log.warning("heartbeat not written", file=str(self.path), error=error.strerror or str(error))
            self._is_logged = True

    @contextlib.asynccontextmanager
    async def beating(self) -> AsyncIterator[None]:
        """Rewrite the file periodically while the `with` block runs; then remove the file."""
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
