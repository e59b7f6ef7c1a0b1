"""The referee in this process: what `arena serve` and `arena referee` have in common."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from arena.cli.exit import CommandError

if TYPE_CHECKING:
    from arena.cli.interrupt import Interrupts
    from arena.config import Settings
    from arena.events.bus import EventBus
    from arena.metrics import Metrics
    from arena.store import Store


async def act(settings: Settings, store: Store, bus: EventBus, metrics: Metrics, interrupts: Interrupts) -> None:
    """Play and record until told to stop, or until the coordinator fails. Raises CommandError where it cannot begin."""
    from arena.coordinator.coordinator import Coordinator
    from arena.coordinator.executors import open_executor
    from arena.metrics import RefereeMetrics

    try:
        executor = open_executor(settings, bus)
    except ValueError as error:
        raise CommandError(str(error)) from None
    try:
        coordinator = Coordinator(settings, store, bus, executor, metrics=RefereeMetrics(metrics.registry))
        interrupts.again = coordinator.abort
        await coordinator.run(interrupts.stop)
    finally:
        await asyncio.to_thread(executor.shutdown, cancel_futures=True)
