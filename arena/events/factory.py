"""Opens the event bus that the settings choose: one inside this process, or one between processes over a broker."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from arena.events.bus import Bus, EventBus

if TYPE_CHECKING:
    from arena.config import Settings
    from arena.metrics import Metrics


@contextlib.asynccontextmanager
async def open_bus(
    settings: Settings, metrics: Metrics | None = None, *, has_pages: bool = True
) -> AsyncIterator[EventBus]:
    """Open the bus that the settings choose. Raises BusError.

    A bus over a broker counts its messages in `metrics`, and without pages receives only what a coordinator needs.
    """
    if not settings.mqtt:
        yield Bus()
        return
    from arena.events.mqtt.bus import connected  # loads the MQTT client only where there is a broker
    from arena.metrics import Metrics

    async with connected(settings, metrics or Metrics(), has_pages=has_pages) as bus:
        yield bus
