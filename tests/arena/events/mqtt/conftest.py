"""Brokers and buses to test with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.arena.events.mqtt.broker import Mosquitto, program


@pytest.fixture
def mosquitto(tmp_path: Path) -> Iterator[Mosquitto]:
    """Yield a broker that is open to every client."""
    require()
    folder = tmp_path / "broker"
    folder.mkdir()
    found = Mosquitto(folder)
    yield found
    found.kill()


def require() -> None:
    """Skip the test if Mosquitto or its clients are not installed."""
    for name, package in (("mosquitto", "mosquitto"), ("mosquitto_sub", "mosquitto-clients")):
        if program(name) is None:
            pytest.skip(f"{name} is not installed: apt-get install {package}")
