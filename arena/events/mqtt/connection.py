"""A connection to an MQTT 3.1.1 broker that is made anew, with growing pauses, whenever it is lost.

The only module that knows aiomqtt. Refuses to know what is said over it: a `MqttSession` does.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import secrets
import socket
import ssl
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import aiomqtt

from arena.events.bus import BusError
from arena.events.mqtt.outbox import Outgoing
from arena.events.mqtt.url import BrokerUrl
from arena.log import logger

if TYPE_CHECKING:
    from arena.config import Settings
    from arena.metrics import Metrics

BATCH_WINDOW_S = 0.25
"""The shortest time between two looks at what is to be sent: what comes meanwhile goes together."""
QOS = 1
"""At least once, in order. What a lost connection costs is made up for by snapshots and the database."""
BACKOFF_RANGE_S = (0.25, 5.0)
"""The first and the longest pause before another attempt to connect."""
STABLE_AFTER_S = 5.0
"""A connection that lasted that long was a good one: the next pause is the first one again."""
TIMEOUT_S = 5.0
KEEPALIVE_S = 10
MAX_INCOMING = 10_000
"""Messages that wait to be looked at."""
_CLOSE_TIMEOUT_S = 2.0
_PASSWORD_WORDS = ("user name", "authori")
"""In what a broker says to a user whom it does not know, or who may not do that."""
_NO_DELAY = (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


class MqttSession(Protocol):
    """What is said and heard over a connection; called in the event loop."""

    @property
    def is_silent(self) -> bool:
        """Whether nothing waits to be said."""

    def begin(self) -> None:
        """A connection stands: what was missed is not known."""

    def hear(self, topic: str, body: bytes) -> None:
        """Take in a message."""

    def fill(self) -> None:
        """Queue what has gathered."""

    def take(self) -> Outgoing | None:
        """The next message to be sent; None when nothing waits."""

    def drop(self, reason: str) -> None:
        """A message was given up."""


class _Arrivals(asyncio.Queue[aiomqtt.Message]):
    """A bounded queue that counts what finds no room."""

    session: MqttSession

    def put_nowait(self, item: aiomqtt.Message) -> None:
        if self.full():
            self.session.drop("overflow")
        else:
            super().put_nowait(item)


class MqttConnection:
    """The connection of one process, under the name `name`; `filters` is what it hears, `will` what is left of it."""

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
        self._stir = asyncio.Event()
        self._is_stirred = False
        self._is_sent = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Connect, or go on without for now, and stay connected. Raises BusError when the broker will not have us."""
        self._loop = asyncio.get_running_loop()
        first: asyncio.Future[None] = self._loop.create_future()
        self._task = asyncio.create_task(self._run(first))
        await asyncio.wait([first, self._task], return_when=asyncio.FIRST_COMPLETED)
        if not first.done():
            await self._task  # raises what ended it before it could say anything
        await first

    async def close(self) -> None:
        """Say what is left to say, as far as that is possible soon, and end the connection."""
        assert self._task is not None
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._empty(), _CLOSE_TIMEOUT_S)
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task

    def stir(self) -> None:
        """There is something to say. From any thread."""
        if not self._is_stirred and self._loop is not None:
            self._is_stirred = True
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody is left to send it
                self._loop.call_soon_threadsafe(self._stir.set)

    async def _empty(self) -> None:
        """Wait until everything is sent."""
        is_left = True
        while is_left:
            self._is_sent.clear()
            self._stir.set()
            await self._is_sent.wait()
            is_left = not self._session.is_silent

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
                        tasks.create_task(self._hear_all(client))
                        tasks.create_task(self._tell_all(client))
            except* Exception as errors:  # the outermost loop of this task: whatever happens costs liveliness only
                problem = _first(errors)
                if not isinstance(problem, aiomqtt.MqttError):
                    self._log.exception("broker")
            finally:
                self._metrics.bus_connected.set(0)
            if not first.done() and _is_refused(problem):  # waiting will not mend it
                first.set_exception(_refusal(self._url, problem))
                return
            hint = {"hint": _refusal(self._url, problem).fix}
            if since is not None and loop.time() - since >= STABLE_AFTER_S:
                pause, hint = BACKOFF_RANGE_S[0], {}
            elif since is not None:
                hint = {"hint": "when it hangs up again and again, its access list keeps this user from writing"}
            if since is not None or not is_logged:  # once an outage: further attempts say nothing new
                words = {"broker": str(self._url), "error": str(problem), "retry_s": round(pause, 1), **hint}
                self._log.warning("broker lost" if since is not None else "broker away", **words)
            is_logged = True
            if not first.done():
                first.set_result(None)  # it comes later, as it comes back when it was away
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
        """Subscribe, and begin the session."""
        codes = await client.subscribe([(one, QOS) for one in self._filters])
        if any(getattr(code, "is_failure", False) or code == 0x80 for code in codes):
            raise aiomqtt.MqttError("not authorised to subscribe")
        self._metrics.bus_connected.set(1)
        self._log.info("broker connected", broker=str(self._url), client=self._name)
        self._session.begin()
        self._stir.set()

    async def _hear_all(self, client: aiomqtt.Client) -> None:
        async for message in client.messages:
            self._metrics.bus_messages.labels("in").inc()
            self._session.hear(str(message.topic), bytes(message.payload))

    async def _tell_all(self, client: aiomqtt.Client) -> None:
        while True:
            await self._stir.wait()
            self._stir.clear()
            self._is_stirred = False
            self._session.fill()
            while message := self._session.take():
                await self._send(client, message)
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
    """Whether a broker answers but will not have us as we are, or we not it."""
    text = str(error).lower()
    return any(word in text for word in ("certificate", *_PASSWORD_WORDS))


def _refusal(url: BrokerUrl, error: BaseException | None) -> BusError:
    """Why a broker cannot be used, for people."""
    text = str(error).lower()
    fix = "start it there, or change the setting mqtt"
    if "certificate" in text or "ssl" in text:
        fix = "set mqtt_ca to the file of the authority that signed its certificate, and name the host as it does"
    elif any(word in text for word in _PASSWORD_WORDS):
        fix = "check the user and the password in the setting mqtt, and the broker's access list"
    elif "timed out" in text or "disconnect" in text:
        fix = f"see whether an MQTT broker {'with' if url.is_tls else 'without'} TLS listens there"
    return BusError(f"cannot use the broker {url}: {error}", fix)


async def probe(settings: Settings) -> None:
    """Connect to the broker that the settings name, and leave again. Raises BusError."""
    url = BrokerUrl.read(settings.mqtt)
    if url.is_embedded:
        from arena.events.mqtt.embedded import broker

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
