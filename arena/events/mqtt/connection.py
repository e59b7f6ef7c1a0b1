"""A connection to an MQTT 3.1.1 broker that reconnects with exponential backoff.

The only module that uses aiomqtt. Messages are handled by an `MqttSession`.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import secrets
import socket
import ssl
from collections.abc import AsyncIterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Protocol

import aiomqtt

from arena.events.bus import BusError
from arena.events.mqtt.outbox import Outgoing
from arena.events.mqtt.url import BrokerUrl
from arena.log import logger

if TYPE_CHECKING:
    from arena.config import Settings
    from arena.metrics import Metrics

BATCH_WINDOW_S = 0.05
"""Shortest time between two rounds of sending: plies that arrive in between are batched."""
MAX_BATCH = 100
"""Messages that are handed to the broker together; the next ones wait for their acknowledgements."""
QOS = 1
"""At least once, in order. Snapshots and the database make up for messages that a lost connection drops."""
BACKOFF_RANGE_S = (0.25, 5.0)
"""The first and the longest pause between two attempts to connect."""
STABLE_AFTER_S = 5.0
"""A connection that lasted this long resets the backoff."""
TIMEOUT_S = 5.0
KEEPALIVE_S = 10
MAX_INCOMING = 10_000
"""Received messages that may wait."""
_CLOSE_TIMEOUT_S = 2.0
_PASSWORD_WORDS = ("user name", "authori")
"""Parts of a broker's error for an unknown or unauthorised user."""
# Nagle's algorithm and delayed acknowledgements together hold a small message for up to 40 ms.
_NO_DELAY = (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


class MqttSession(Protocol):
    """The handler of the messages of a connection, called in the event loop."""

    @property
    def is_drained(self) -> bool:
        """True if no message waits to be sent."""

    def begin(self) -> None:
        """Handle the start of a connection. Events from the time without a connection are lost."""

    def receive(self, topic: str, body: bytes) -> None:
        """Handle a message."""

    def fill(self) -> None:
        """Queue batched events."""

    def take(self) -> Outgoing | None:
        """Remove and return the next message; None if the queue is empty."""

    def drop(self, reason: str) -> None:
        """Count a dropped message."""


class _Arrivals(asyncio.Queue[aiomqtt.Message]):
    """A bounded queue that counts the messages it drops."""

    session: MqttSession

    def put_nowait(self, item: aiomqtt.Message) -> None:
        if self.full():
            self.session.drop("overflow")
        else:
            super().put_nowait(item)


class MqttConnection:
    """The connection of one process with the client name `name`.

    `filters` are its subscriptions, `will` is its Last Will.
    """

    def __init__(
        self,
        url: BrokerUrl,
        metrics: Metrics,
        session: MqttSession,
        *,
        name: str,
        ca: str,
        filters: Sequence[str],
        will: Outgoing | None,
    ) -> None:
        self._url, self._metrics, self._session = url, metrics, session
        self._name, self._filters, self._will = name, filters, will
        self._tls = _tls(url, ca) if url.is_tls else None
        self._log = logger("bus")
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wakeup = asyncio.Event()
        self._is_woken = False
        self._is_sent = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Start the task that connects and reconnects, and wait for its first attempt, which may fail.

        Raises BusError when the broker rejects this client.
        """
        self._loop = asyncio.get_running_loop()
        first: asyncio.Future[None] = self._loop.create_future()
        self._task = asyncio.create_task(self._run(first))
        await asyncio.wait([first, self._task], return_when=asyncio.FIRST_COMPLETED)
        if not first.done():
            await self._task  # raises the exception that ended it early
        await first

    async def close(self) -> None:
        """Send the waiting messages within a short time, and disconnect."""
        assert self._task is not None
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._empty(), _CLOSE_TIMEOUT_S)
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task

    def wake(self) -> None:
        """Wake the sender. Thread-safe."""
        # One wake-up for many events: each writes a byte to the pipe that ends the loop's select.
        if not self._is_woken and self._loop is not None:
            self._is_woken = True
            with contextlib.suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._wakeup.set)

    async def _empty(self) -> None:
        """Wait until all queued messages are sent."""
        is_left = True
        while is_left:
            self._is_sent.clear()
            self._wakeup.set()
            await self._is_sent.wait()
            is_left = not self._session.is_drained

    async def _run(self, first: asyncio.Future[None]) -> None:
        loop = asyncio.get_running_loop()
        pause = BACKOFF_RANGE_S[0]
        is_logged = False
        while True:
            problem: BaseException | None = None
            since = None
            try:
                async with self._client() as client:
                    await self._begin(client)
                    if not first.done():
                        first.set_result(None)
                    since = loop.time()
                    async with asyncio.TaskGroup() as tasks:
                        tasks.create_task(self._receive_all(client))
                        tasks.create_task(self._send_all(client))
            except* Exception as errors:  # the outermost loop of this task: errors cost only live updates
                problem = _first(errors)
                if not isinstance(problem, aiomqtt.MqttError):
                    self._log.exception("broker")
            finally:
                self._metrics.bus_connected.set(0)
            if not first.done() and _is_refused(problem):  # retrying will not help
                first.set_exception(_refusal(self._url, problem))
                return
            hint = {"hint": _refusal(self._url, problem).fix}
            if since is not None and loop.time() - since >= STABLE_AFTER_S:
                pause, hint = BACKOFF_RANGE_S[0], {}
            elif since is not None:
                hint = {"hint": "if it disconnects repeatedly, its access list forbids this user to publish"}
            if since is not None or not is_logged:  # once for each outage
                words = {"broker": str(self._url), "error": str(problem), "retry_s": round(pause, 1), **hint}
                self._log.warning("broker lost" if since is not None else "broker unavailable", **words)
            is_logged = True
            if not first.done():
                first.set_result(None)  # the process starts without it; it connects later
            # Random, so that not all processes come back in the same moment after an outage.
            await asyncio.sleep(pause * random.uniform(0.5, 1))
            pause = min(2 * pause, BACKOFF_RANGE_S[1])

    def _client(self) -> aiomqtt.Client:
        def arrivals(maxsize: int) -> _Arrivals:
            queue = _Arrivals(maxsize)
            queue.session = self._session
            return queue

        will = None
        if self._will is not None:
            will = aiomqtt.Will(self._will.topic, self._will.payload, QOS, self._will.is_retained)
        return aiomqtt.Client(
            self._url.host,
            self._url.port,
            username=self._url.user,
            password=self._url.password,
            identifier=self._name,
            # The embedded broker, amqtt, speaks no MQTT 5.
            protocol=aiomqtt.ProtocolVersion.V311,
            will=will,
            tls_context=self._tls,
            timeout=TIMEOUT_S,
            keepalive=KEEPALIVE_S,
            queue_type=arrivals,  # type: ignore[arg-type]
            max_queued_incoming_messages=MAX_INCOMING,
            socket_options=[_NO_DELAY],
        )

    async def _begin(self, client: aiomqtt.Client) -> None:
        """Subscribe, and start the session."""
        codes = await client.subscribe([(topic, QOS) for topic in self._filters])
        # 0x80 is the one failure code of a SUBACK in MQTT 3.1.1 (3.9.3).
        if any(getattr(code, "is_failure", False) or code == 0x80 for code in codes):
            raise aiomqtt.MqttError("not authorised to subscribe")
        self._metrics.bus_connected.set(1)
        self._log.info("broker connected", broker=str(self._url), client=self._name)
        self._session.begin()
        self._wakeup.set()

    async def _receive_all(self, client: aiomqtt.Client) -> None:
        async for message in client.messages:
            self._metrics.bus_messages.labels("in").inc()
            self._session.receive(str(message.topic), bytes(message.payload))

    async def _send_all(self, client: aiomqtt.Client) -> None:
        while True:
            await self._wakeup.wait()
            self._wakeup.clear()
            self._is_woken = False
            self._session.fill()
            # The library keeps their order. Awaited one by one, each would take a round trip of a millisecond.
            while messages := list(islice(iter(self._session.take, None), MAX_BATCH)):
                async with asyncio.TaskGroup() as sending:
                    for message in messages:
                        sending.create_task(self._send(client, message))
            self._is_sent.set()
            await asyncio.sleep(BATCH_WINDOW_S)

    async def _send(self, client: aiomqtt.Client, message: Outgoing) -> None:
        try:
            await client.publish(message.topic, message.payload, QOS, message.is_retained)
        except BaseException:
            self._session.drop("offline")
            raise
        self._metrics.bus_messages.labels("out").inc()


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    error: BaseException = errors
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _tls(url: BrokerUrl, ca: str) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca or None)
    except OSError as error:
        reason = f"the certificates in {ca}: {error.strerror or error}"
        raise BusError(f"cannot use the broker {url}: {reason}", "check the setting mqtt_ca") from None


def _is_refused(error: BaseException | None) -> bool:
    """Return whether broker or client has rejected the other, so that retrying is useless."""
    text = str(error).lower()
    return any(word in text for word in ("certificate", *_PASSWORD_WORDS))


def _refusal(url: BrokerUrl, error: BaseException | None) -> BusError:
    """Return the error that explains why a broker cannot be used, and what to do."""
    text = str(error).lower()
    fix = "start it there, or change the setting mqtt"
    if "certificate" in text or "ssl" in text:
        fix = "set mqtt_ca to the file of the CA that signed its certificate, and use the host name of the certificate"
    elif any(word in text for word in _PASSWORD_WORDS):
        fix = "check the user and the password in the setting mqtt, and the broker's access list"
    elif "timed out" in text or "disconnect" in text:
        fix = f"check that an MQTT broker {'with' if url.is_tls else 'without'} TLS listens there"
    return BusError(f"cannot use the broker {url}: {error}", fix)


@contextlib.asynccontextmanager
async def broker(url: BrokerUrl) -> AsyncIterator[None]:
    """Run a broker for development at a loopback address: amqtt inside this process, open to every local user.

    It keeps nothing after the end of the process, and has no TLS and no passwords. Raises BusError.
    """
    try:
        from amqtt.broker import Broker
        from amqtt.errors import BrokerError
    except ImportError:
        raise BusError("the embedded broker is not installed", "pip install 'bot-arena[broker]'") from None
    for name in ("amqtt", "transitions"):  # it logs a traceback for every client that disconnects abruptly
        logging.getLogger(name).setLevel(logging.CRITICAL)
    config = {
        "listeners": {"default": {"type": "tcp", "bind": f"{url.host}:{url.port}"}},
        "plugins": {"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True}},
    }
    embedded = Broker(config)
    try:
        await embedded.start()
    except BrokerError as error:
        problem = f"cannot start the embedded broker at {url}: {error.__cause__ or error}"
        raise BusError(problem, "choose another port: embedded:PORT") from None
    try:
        yield
    finally:
        await embedded.shutdown()


async def probe(settings: Settings) -> None:
    """Connect to the broker that the settings name, and disconnect. Raises BusError."""
    url = BrokerUrl.read(settings.mqtt)
    if url.is_embedded:
        async with broker(url):
            return
    tls = _tls(url, settings.mqtt_ca) if url.is_tls else None
    name = f"{settings.mqtt_name}-probe-{secrets.token_hex(3)}"
    client = aiomqtt.Client(
        url.host,
        url.port,
        username=url.user,
        password=url.password,
        identifier=name,
        tls_context=tls,
        timeout=TIMEOUT_S,
    )
    try:
        async with client:
            pass
    except aiomqtt.MqttError as error:
        raise _refusal(url, error) from None
