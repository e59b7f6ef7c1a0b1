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
from referee.sandbox import open_sandbox, refusal

if TYPE_CHECKING:
    from arena.config import Settings


def open_executor(settings: Settings, bus: EventBus) -> Executor:
    """The executor a server's settings name. Raises ValueError, also when bots would run as root without a sandbox."""
    kind, _, rest = settings.executor.partition(":")
    if kind != "local":
        raise ValueError(f"the executor {settings.executor!r} is not part of this installation; use local or local:N")
    reason = refusal(open_sandbox(settings.sandbox), allow_weak=True)
    if reason and not settings.allow_weak_sandbox:
        raise ValueError(f"{reason}; or set allow_weak_sandbox")
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
