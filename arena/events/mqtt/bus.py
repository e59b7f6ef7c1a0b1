"""The bus between processes: events of the bus inside this process, carried over an MQTT 3.1.1 broker.

Without the broker everything goes on, only the others hear of it later: once it is back, everything is said again that
still matters.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import secrets
import socket
import threading
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING

from arena.events.bus import QUEUE, Bus, E, Subscription
from arena.events.messages import (
    BrokerConnected,
    Event,
    GameEnded,
    GameSnapshot,
    PersonDecided,
    RefereeChanged,
    RefereeWoken,
    TournamentChanged,
)
from arena.events.mqtt import payload
from arena.events.mqtt.connection import Connection
from arena.events.mqtt.incoming import Incoming
from arena.events.mqtt.outbox import Outbox, Outgoing
from arena.events.mqtt.payload import NewsError
from arena.events.mqtt.retained import RetainedTopics
from arena.events.mqtt.url import BrokerUrl
from arena.events.topic import ROOT
from arena.log import logger

if TYPE_CHECKING:
    from arena.config import Settings
    from arena.metrics import Metrics

SETTLE_S = 10.0
"""After a connection, how long games that others played before may stay silent (their referee may connect later than
we do): then they are over."""
_FOR_REFEREES = (RefereeWoken, PersonDecided, GameSnapshot, GameEnded, TournamentChanged, RefereeChanged)
"""What a process without pages listens to."""


class MqttBus:
    """An `EventBus`; an async context manager. Entering raises BusError when the broker cannot be used."""

    def __init__(
        self, url: BrokerUrl, metrics: Metrics, *, name: str, ca: str, is_referee: bool, has_pages: bool
    ) -> None:
        host = re.sub(r"[^A-Za-z0-9-]", "-", socket.gethostname())[:30]
        self.id = f"{name}-{host}-{os.getpid()}-{secrets.token_hex(3)}"
        """What others call this process."""
        self._metrics, self._is_referee = metrics, is_referee
        self._log = logger("bus")
        self._local = Bus()
        self._lock = threading.Lock()
        self._outbox = Outbox(self.id, self.drop)
        self._incoming = Incoming(self.id, self._local, self._outbox)
        self._retained = RetainedTopics()
        self._since = 0.0
        filters = [f"{ROOT}/#"] if has_pages else [kind.TOPIC.filter for kind in _FOR_REFEREES]
        will = self._outbox.message(RefereeChanged(state="offline")) if is_referee else None
        self._connection = Connection(url, metrics, self, name=self.id, ca=ca, filters=filters, will=will)

    async def __aenter__(self) -> MqttBus:
        if self._is_referee:
            self.publish(RefereeChanged(state="starting"))
        await self._connection.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Say what is left to say, as far as that is possible soon, and end the connection."""
        with self._lock:
            if self._is_referee:
                self._outbox.take(RefereeChanged(state="stopped"))
            self._outbox.clear_games()
        await self._connection.close()

    def publish(self, event: Event) -> None:
        """Tell everybody, here at once and elsewhere soon. From any thread; never blocks."""
        with self._lock:
            is_news = self._outbox.take(event)
            if isinstance(event, RefereeChanged):
                self._incoming.is_acting = False
                if event.state == "acting":
                    self._incoming.take_over()
        # After the outbox: a subscriber that begins in between gets the game with this ply, and the ply once more.
        self._local.publish(event)
        if is_news:
            self._connection.stir()

    def subscribe(self, *kinds: type[E], size: int = QUEUE, **subject: object) -> Subscription[E]:
        """The events from now on; whoever asks for games begins with those that are running."""
        subscription = self._local.subscribe(*kinds, size=size, **subject)
        with self._lock:
            games = [*self._outbox.running.games.items(), *self._incoming.running.games.items()]
            snapshots = [game.snapshot(name) for name, game in games]
        for snapshot in snapshots:
            self._local.tell(subscription, snapshot)
        return subscription

    # -- the session of the connection ---------------------------------------------------------------------------------

    @property
    def is_silent(self) -> bool:
        """Whether nothing waits to be said (plies aside)."""
        with self._lock:
            return self._outbox.is_empty

    def begin(self) -> None:
        """A connection stands: say again how things are."""
        self._since = asyncio.get_running_loop().time()
        with self._lock:
            self._incoming.begin()
            self._outbox.renew()
        self._local.publish(BrokerConnected())

    def hear(self, topic: str, body: bytes, *, is_retained: bool = False) -> None:
        """Take in a message, or count it as dropped."""
        try:
            heard = payload.read(topic, body)
        except NewsError as error:
            self.drop(error.reason)
            self._log.debug("message dropped", reason=error.reason, error=str(error))
            return
        with self._lock:
            self._retained.note(heard)
            self._incoming.take(heard, is_retained=is_retained)

    def drain(self) -> list[Outgoing]:
        """What is to be sent now, in order."""
        at = asyncio.get_running_loop().time()
        with self._lock:
            if at > self._since + SETTLE_S:
                self._incoming.settle()
            if self._incoming.is_acting:
                for topic in self._retained.excess():
                    self._outbox.clear(topic)
            return self._outbox.drain(at)

    def put_back(self, messages: Sequence[Outgoing]) -> None:
        """Messages that could not be sent."""
        with self._lock:
            self._outbox.put_back(messages)

    def drop(self, reason: str) -> None:
        """Count a message that was given up."""
        self._metrics.bus_dropped.labels(reason).inc()


@contextlib.asynccontextmanager
async def connected(settings: Settings, metrics: Metrics, *, has_pages: bool) -> AsyncIterator[MqttBus]:
    """The bus over the broker that the settings name, started first if it is the embedded one. Raises BusError."""
    url = BrokerUrl.read(settings.mqtt)
    async with contextlib.AsyncExitStack() as stack:
        if url.is_embedded:
            from arena.events.mqtt.embedded import broker

            await stack.enter_async_context(broker(url))
        bus = MqttBus(
            url,
            metrics,
            name=settings.mqtt_name,
            ca=settings.mqtt_ca,
            is_referee=settings.referee,
            has_pages=has_pages,
        )
        yield await stack.enter_async_context(bus)
