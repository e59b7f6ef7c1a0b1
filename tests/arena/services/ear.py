"""A bus that writes down what is published."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from arena.events.bus import Bus


class Ear(Bus):
    """Hears who was woken and what was told."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[str] = []

    def publish(self, topic: str, payload: Mapping[str, Any]) -> None:
        self.heard.append(topic)
        super().publish(topic, payload)
