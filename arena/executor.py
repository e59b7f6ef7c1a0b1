"""Opens what plays the games: a `concurrent.futures.Executor` of game slots, its events put on the bus.

Refuses to know which games there are.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any

from arena.bus import EventBus
from referee.pool import SlotPool

if TYPE_CHECKING:
    from arena.config import Settings


def open_executor(settings: Settings, bus: EventBus) -> Executor:
    """The executor a server's settings name. Raises ValueError."""
    kind, _, rest = settings.executor.partition(":")
    if kind != "local":
        raise ValueError(f"the executor {settings.executor!r} is not part of this installation; use local or local:N")
    return SlotPool(int(rest or os.cpu_count() or 1), sandbox=settings.sandbox, on_event=publisher(bus))


def publisher(bus: EventBus) -> Callable[[dict[str, Any]], None]:
    """What puts the events of slots on the bus: plies as news of their game, starts for the conductor to confirm."""

    def publish(event: dict[str, Any]) -> None:
        payload = {name: value for name, value in event.items() if name not in ("event", "game")}
        if event.get("event") == "ply":
            bus.publish(f"game/{event['game']}/ply", payload)
        elif event.get("event") == "start":
            bus.publish("executor/start", {"game": event["game"]})

    return publish


def slots_of(executor: Executor) -> int:
    """How many games an executor plays at once."""
    return int(getattr(executor, "size", 0) or os.cpu_count() or 1)
