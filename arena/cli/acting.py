"""The referee in this process: what `arena serve` and `arena referee` have in common."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

from arena.cli.exit import CommandError

if TYPE_CHECKING:
    from arena.cli.interrupt import Interrupts
    from arena.config import Settings
    from arena.coordinator.lobby import Lobby
    from arena.events.bus import EventBus
    from arena.metrics import Metrics
    from arena.store import Store


async def act(
    settings: Settings,
    store: Store,
    bus: EventBus,
    metrics: Metrics,
    interrupts: Interrupts,
    *,
    open_door: Callable[[Lobby], AbstractAsyncContextManager[None]],
) -> None:
    """Play and record until told to stop, or until the coordinator fails. Raises CommandError where it cannot begin.

    `open_door`: has remote bots come to the lobby, as long as it is there.
    """
    from arena.coordinator.coordinator import Coordinator
    from arena.coordinator.executors import open_executor
    from arena.coordinator.lobby import Lobby
    from arena.coordinator.presence import told
    from arena.metrics import RefereeMetrics
    from referee.remote.link import Terms

    try:
        executor = open_executor(settings, bus)
    except ValueError as error:
        raise CommandError(str(error)) from None
    grace_ms = 1000 * settings.remote_grace_seconds
    try:
        async with Lobby(Terms(settings.remote_latency_ms, settings.remote_latency_game_ms, grace_ms)) as lobby:
            counts = RefereeMetrics(metrics)
            coordinator = Coordinator(settings, store, bus, executor, lobby=lobby, metrics=counts)
            lobby.is_open = lambda: coordinator.state == "acting"
            interrupts.again = coordinator.abort
            async with open_door(lobby), told(lobby, store, coordinator):
                await coordinator.run(interrupts.stop)
    finally:
        await asyncio.to_thread(executor.shutdown, cancel_futures=True)
