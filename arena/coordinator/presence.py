"""Says in the database which remote bots are connected, for whoever shows it: when that changes, and now and then."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from arena.coordinator.lobby import Lobby
from arena.store import Store, StoreError
from arena.store.presences import SAID_S

if TYPE_CHECKING:
    from arena.coordinator.coordinator import Coordinator

PAUSE_S = 0.5
"""What changes faster is said together."""


@contextlib.asynccontextmanager
async def told(lobby: Lobby, store: Store, coordinator: Coordinator) -> AsyncIterator[None]:
    """Meanwhile it is said who is in the lobby, and the coordinator looks at once when that changes."""
    changed = asyncio.Event()

    def note() -> None:
        changed.set()
        coordinator.order(0)

    lobby.on_change = note
    task = asyncio.create_task(_tell(lobby, store, changed))
    try:
        yield
    finally:
        lobby.on_change = lambda: None
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _tell(lobby: Lobby, store: Store, changed: asyncio.Event) -> None:
    while True:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(changed.wait(), SAID_S)
        changed.clear()
        if lobby.is_open():
            present = {one.version_id: one for one in lobby.present.values()}
            with contextlib.suppress(StoreError):  # said again soon
                await asyncio.to_thread(store.presences.say, present)
        await asyncio.sleep(PAUSE_S)
