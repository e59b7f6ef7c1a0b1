"""A bus that records published events."""

from __future__ import annotations

from arena.events.bus import Bus
from arena.events.messages import Event


class Ear(Bus):
    """Record of published events and wake-ups."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[str] = []

    def publish(self, event: Event) -> None:
        self.heard.append(type(event).__name__)
        super().publish(event)
