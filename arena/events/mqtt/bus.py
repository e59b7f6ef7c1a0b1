"""The bus between processes: forwards events of the bus inside this process over an MQTT 3.1.1 broker.

Events are hints. Without the broker everything continues: events that a bounded queue cannot hold are lost, and
listeners read the state from the database. After a reconnection, listeners request all running games, which are sent
from their first ply on.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import socket
import threading
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from arena.events.bus import MAX_QUEUED, Bus, E, Subscription
from arena.events.messages import (
    BrokerConnected,
    CoordinatorChanged,
    CoordinatorWakeup,
    Event,
    GameAborted,
    GameEnded,
    GamePlies,
    GameSnapshot,
    GameWatched,
    HumanActed,
    SnapshotRequest,
)
from arena.events.mqtt import outbox
from arena.events.mqtt.connection import MqttConnection
from arena.events.mqtt.outbox import MqttOutbox, Outgoing, PayloadError
from arena.events.mqtt.url import BrokerUrl
from arena.events.topic import ROOT
from arena.log import logger

if TYPE_CHECKING:
    from arena.config import Settings
    from arena.metrics import Metrics

_COORDINATOR_EVENTS = (CoordinatorWakeup, HumanActed, SnapshotRequest, GameWatched)
"""Subscriptions of a process without pages."""
_OF_GAMES = (GamePlies, GameSnapshot, GameEnded, GameAborted)


class MqttBus:
    """An `EventBus` and an async context manager. Entering it raises BusError when the broker cannot be used."""

    def __init__(
        self, url: BrokerUrl, metrics: Metrics, *, name: str, ca: str, is_coordinator: bool, has_pages: bool
    ) -> None:
        host = re.sub(r"[^A-Za-z0-9-]", "-", socket.gethostname())[:30]
        self.id = f"{name}-{host}-{os.getpid()}-{secrets.token_hex(3)}"
        """The name of this process at the broker."""
        self._metrics, self._is_coordinator = metrics, is_coordinator
        self._log = logger("bus")
        self._local = Bus()
        self._lock = threading.Lock()
        self._outbox = MqttOutbox(self.id, self.drop)
        filters = [f"{ROOT}/#"] if has_pages else [kind.TOPIC.filter for kind in _COORDINATOR_EVENTS]
        will = self._outbox.messages(CoordinatorChanged(state="offline"))[0] if is_coordinator else None
        self._connection = MqttConnection(url, metrics, self, name=self.id, ca=ca, filters=filters, will=will)

    async def __aenter__(self) -> MqttBus:
        if self._is_coordinator:
            self.publish(CoordinatorChanged(state="starting"))
        await self._connection.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Send the waiting messages within a short time, and disconnect."""
        if self._is_coordinator:
            self.publish(CoordinatorChanged(state="stopped"))
        await self._connection.close()

    def publish(self, event: Event) -> None:
        """Deliver an event here at once, and to other processes soon. Thread-safe; never blocks."""
        snapshots: list[GameSnapshot] = []
        with self._lock:
            is_broadcast = self._outbox.put(event)
            if isinstance(event, SnapshotRequest):
                snapshots = [game.snapshot(name) for name, game in self._outbox.running.games.items()]
        self._local.publish(event)
        for snapshot in snapshots:
            self._local.publish(snapshot)
        if is_broadcast:
            self._connection.wake()

    def subscribe(self, *kinds: type[E], size: int = MAX_QUEUED, **subject: object) -> Subscription[E]:
        """Subscribe to future events; publish `SnapshotRequest` to receive the running games."""
        return self._local.subscribe(*kinds, size=size, **subject)

    # -- the session of the connection ---------------------------------------------------------------------------------

    @property
    def is_drained(self) -> bool:
        """True if no message waits (apart from plies)."""
        with self._lock:
            return self._outbox.is_empty

    def begin(self) -> None:
        """Handle a new connection: events may have been missed."""
        with self._lock:
            self._outbox.reconnect()
        self._local.publish(BrokerConnected())

    def receive(self, topic: str, body: bytes) -> None:
        """Publish a message of another process in this one, or count it as dropped."""
        if outbox.is_copy(topic):
            return  # the event itself comes on its own topic
        try:
            received = outbox.read_payload(topic, body)
        except PayloadError as error:
            self.drop(error.reason)
            self._log.debug("message dropped", reason=error.reason, error=str(error))
            return
        if received.sender == self.id:
            return
        event = received.event
        with self._lock:
            if isinstance(event, SnapshotRequest):
                self._outbox.renew()
                self._connection.wake()
            elif isinstance(event, GameWatched):
                self._outbox.watch(event)
                self._connection.wake()
            if isinstance(event, _OF_GAMES) and event.game in self._outbox.running.games:
                return  # this process itself is the authority on its games
        self._local.publish(event)

    def fill(self) -> None:
        """Queue the plies that were not sent yet."""
        with self._lock:
            self._outbox.fill()

    def take(self) -> Outgoing | None:
        """Remove and return the next message; None if the queue is empty."""
        with self._lock:
            return self._outbox.take()

    def drop(self, reason: str) -> None:
        """Count a dropped message."""
        self._metrics.bus_dropped.labels(reason).inc()


@contextlib.asynccontextmanager
async def connected(settings: Settings, metrics: Metrics, *, has_pages: bool) -> AsyncIterator[MqttBus]:
    """Connect to the broker that the settings name, and start it first if it is embedded. Raises BusError."""
    url = BrokerUrl.read(settings.mqtt)
    async with contextlib.AsyncExitStack() as stack:
        if url.is_embedded:
            from arena.events.mqtt.connection import broker

            await stack.enter_async_context(broker(url))
        bus = MqttBus(
            url,
            metrics,
            name=settings.mqtt_name,
            ca=settings.mqtt_ca,
            is_coordinator=settings.referee,
            has_pages=has_pages,
        )
        yield await stack.enter_async_context(bus)
