"""The bus between processes: events of the bus inside this process, carried over an MQTT 3.1.1 broker.

The only module that knows aiomqtt. Without the broker everything goes on, only the others hear of it later: a lost
connection is made anew with growing pauses, and then everything is said again that still matters. Refuses to believe
what does not follow `arena.events.messages`.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import re
import secrets
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any

import aiomqtt

from arena.events import messages
from arena.events.bus import QUEUE, Bus, BusError, Subscription
from arena.events.messages import Heard, NewsError, Plies, Result, Snapshot
from arena.events.mqtt.outbox import Message, Outbox
from arena.events.mqtt.retained import Shelf
from arena.events.mqtt.url import BrokerUrl
from arena.events.running import Running
from arena.log import logger

if TYPE_CHECKING:
    from arena.config import Settings
    from arena.metrics import Metrics

BATCH_S = 0.25
"""The shortest time between two looks at the outbox: what comes meanwhile goes together."""
IDLE_S = 1.0
"""The longest: snapshots are refreshed that much late."""
SETTLE_S = 10.0
"""After a connection, how long games that others played before may stay silent (their referee may connect later than
we do): then they are over."""
PAUSES_S = (0.25, 5.0)
"""The first and the longest pause before another attempt to connect."""
STEADY_S = 5.0
"""A connection that lasted that long was a good one: the next pause is the first one again."""
TIMEOUT_S = 5.0
KEEPALIVE_S = 10
INCOMING = 10_000
"""Messages that wait to be looked at."""
_CLOSE_S = 2.0
_NO_DELAY = (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
_FOR_REFEREES = (messages.WAKE, messages.SNAPSHOT, messages.RESULT, messages.STATE, messages.STATUS)
"""What a process without pages listens to."""


class _Incoming(asyncio.Queue[aiomqtt.Message]):
    """A bounded queue that counts what finds no room."""

    bus: MqttBus

    def put_nowait(self, item: aiomqtt.Message) -> None:
        if self.full():
            self.bus.drop("overflow")
        else:
            super().put_nowait(item)


class MqttBus:
    """An `EventBus`; an async context manager. Entering raises BusError when the broker cannot be used."""

    def __init__(
        self, url: BrokerUrl, metrics: Metrics, *, name: str, ca: str, is_referee: bool, has_pages: bool
    ) -> None:
        host = re.sub(r"[^A-Za-z0-9-]", "-", socket.gethostname())[:30]
        self.id = f"{name}-{host}-{os.getpid()}-{secrets.token_hex(3)}"
        """What others call this process."""
        self._url, self._metrics = url, metrics
        self._tls = _tls(url, ca) if url.is_tls else None
        self._is_referee, self._has_pages = is_referee, has_pages
        self._log = logger("bus")
        self._local = Bus()
        self._lock = threading.Lock()
        self._outbox = Outbox(self.id, self.drop)
        self._foreign = Running()
        """The games that others play."""
        self._seen: set[str] | None = None
        """Those of them heard of since the connection; None once that has been looked at."""
        self._shelf = Shelf()
        self._is_acting = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stir = asyncio.Event()
        self._is_stirred = False
        self._is_sent = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    # -- the bus -------------------------------------------------------------------------------------------------------

    def publish(self, topic: str, payload: Mapping[str, Any]) -> None:
        """Tell everybody, here at once and elsewhere soon. From any thread; never blocks."""
        with self._lock:
            is_news = self._outbox.take(topic, payload)
            if topic == "referee/state":
                self._is_acting = payload.get("state") == "acting"
                if self._is_acting:
                    self._take_over()
        # After the outbox: a subscriber that begins in between gets the game with this ply, and the ply once more.
        self._local.publish(topic, payload)
        if is_news:
            self._wake()

    def subscribe(self, *prefixes: str, size: int = QUEUE) -> Subscription:
        """The events from now on; whoever asks for games begins with those that are running."""
        subscription = self._local.subscribe(*prefixes, size=size)
        with self._lock:
            games = [*self._outbox.running.games.items(), *self._foreign.games.items()]
            told = [
                (name, {"tournament": game.tournament, "attempt": game.attempt, "plies": list(game.plies)})
                for name, game in games
            ]
        for name, payload in told:
            self._local.tell(subscription, f"game/{name}/snapshot", payload)
        return subscription

    def drop(self, reason: str) -> None:
        """Count a message that was given up."""
        self._metrics.bus_dropped.labels(reason).inc()

    def _wake(self) -> None:
        if not self._is_stirred and self._loop is not None:
            self._is_stirred = True
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody is left to send it
                self._loop.call_soon_threadsafe(self._stir.set)

    def _take_over(self) -> None:
        """This process is the referee now: games of others are not running any more."""
        for name in list(self._foreign.games):
            self._outbox.clear(messages.SNAPSHOT.topic(name))
            self._forget(name)

    def _forget(self, name: str) -> None:
        self._foreign.take(name, "gone", {})
        self._local.publish(f"game/{name}/gone", {})

    # -- the connection ------------------------------------------------------------------------------------------------

    async def __aenter__(self) -> MqttBus:
        self._loop = asyncio.get_running_loop()
        if self._is_referee:
            self.publish("referee/state", {"state": "starting", "holder": ""})
        first: asyncio.Future[None] = self._loop.create_future()
        self._task = asyncio.create_task(self._run(first))
        await asyncio.wait([first, self._task], return_when=asyncio.FIRST_COMPLETED)
        if not first.done():
            await self._task  # raises what ended it before it could say anything
        await first
        return self

    async def __aexit__(self, *_: object) -> None:
        """Say what is left to say, as far as that is possible soon, and end the connection."""
        assert self._task is not None
        with self._lock:
            if self._is_referee:
                self._outbox.take("referee/state", {"state": "stopped"})
            self._outbox.clear_games()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._empty(), _CLOSE_S)
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task

    async def _empty(self) -> None:
        """Wait until everything is sent."""
        is_left = True
        while is_left:
            self._is_sent.clear()
            self._stir.set()
            await self._is_sent.wait()
            with self._lock:
                is_left = not self._outbox.is_empty

    async def _run(self, first: asyncio.Future[None]) -> None:
        loop = asyncio.get_running_loop()
        pause = PAUSES_S[0]
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
            if not first.done():
                first.set_exception(_refusal(self._url, problem))
                return
            hint = {}
            if since is not None and loop.time() - since >= STEADY_S:
                pause = PAUSES_S[0]
            elif since is not None:
                hint = {"hint": "when it hangs up again and again, its access list keeps this user from writing"}
            self._log.warning("broker lost", broker=str(self._url), error=str(problem), retry_s=round(pause, 1), **hint)
            await asyncio.sleep(pause * random.uniform(0.5, 1))
            pause = min(2 * pause, PAUSES_S[1])

    def _client(self) -> aiomqtt.Client:
        def incoming(maxsize: int) -> _Incoming:
            queue = _Incoming(maxsize)
            queue.bus = self
            return queue

        will = None
        if self._is_referee:
            offline = messages.write(messages.STATUS, self.id, {"state": "offline"})
            will = aiomqtt.Will(messages.STATUS.topic(self.id), offline, qos=1, retain=True)
        return aiomqtt.Client(
            self._url.host,
            self._url.port,
            username=self._url.user,
            password=self._url.password,
            identifier=self.id,
            protocol=aiomqtt.ProtocolVersion.V311,
            will=will,
            tls_context=self._tls,
            timeout=TIMEOUT_S,
            keepalive=KEEPALIVE_S,
            queue_type=incoming,  # type: ignore[arg-type]
            max_queued_incoming_messages=INCOMING,
            socket_options=[_NO_DELAY],
        )

    async def _begin(self, client: aiomqtt.Client) -> None:
        """Subscribe, and prepare to say everything again."""
        patterns = [kind.topic("*").replace("%2A", "+") for kind in _FOR_REFEREES]
        if self._has_pages:
            patterns = [f"{messages.ROOT}/#"]
        self._seen = set()
        codes = await client.subscribe([(pattern, 1) for pattern in patterns])
        if any(getattr(code, "is_failure", False) or code == 0x80 for code in codes):
            raise aiomqtt.MqttError("not authorised to subscribe")
        with self._lock:
            self._outbox.renew()
        self._stir.set()
        self._metrics.bus_connected.set(1)
        self._log.info("broker connected", broker=str(self._url), client=self.id)
        self._local.publish("bus/connected", {})

    # -- out -----------------------------------------------------------------------------------------------------------

    async def _tell_all(self, client: aiomqtt.Client) -> None:
        loop = asyncio.get_running_loop()
        began = loop.time()
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stir.wait(), IDLE_S)
            self._stir.clear()
            self._is_stirred = False
            if self._seen is not None and loop.time() > began + SETTLE_S:
                self._settle()
            with self._lock:
                if self._is_acting:
                    for topic in self._shelf.excess():
                        self._outbox.clear(topic)
                messages = self._outbox.drain(loop.time())
            await self._send(client, messages)
            self._is_sent.set()
            await asyncio.sleep(BATCH_S)

    async def _send(self, client: aiomqtt.Client, messages: list[Message]) -> None:
        for number, message in enumerate(messages):
            try:
                await client.publish(message.topic, message.payload, message.qos, message.is_retained)
            except BaseException:
                with self._lock:
                    self._outbox.put_back(messages[number:])
                raise
            self._metrics.bus_messages.labels("out").inc()

    def _settle(self) -> None:
        """Forget the games that nobody has spoken of since the connection."""
        seen, self._seen = self._seen or set(), None
        with self._lock:
            for name in set(self._foreign.games) - seen:
                self._forget(name)

    # -- in ------------------------------------------------------------------------------------------------------------

    async def _hear_all(self, client: aiomqtt.Client) -> None:
        async for message in client.messages:
            self._metrics.bus_messages.labels("in").inc()
            self.hear(str(message.topic), bytes(message.payload), is_retained=bool(message.retain))

    def hear(self, topic: str, payload: bytes, *, is_retained: bool = False) -> None:
        """Take in a message, or count it as dropped."""
        try:
            heard = messages.read(topic, payload)
        except NewsError as error:
            self.drop(error.reason)
            self._log.debug("message dropped", reason=error.reason, error=str(error))
            return
        with self._lock:
            self._shelf.note(heard)
            if heard.news is not None and heard.news.sender == self.id:
                return
            if heard.kind.pattern.startswith("games/"):
                self._hear_game(heard, is_retained=is_retained)
            elif heard.news is not None and heard.kind is not messages.STATUS:
                local = heard.kind.local.replace("*", heard.subject)
                self._local.publish(local, _payload(heard))

    def _hear_game(self, heard: Heard, *, is_retained: bool) -> None:
        name, told = heard.subject, heard.news
        own = self._outbox.running.games.get(name)
        if own is not None:
            if not isinstance(told, Snapshot) or told.attempt <= own.attempt:
                return
            self._outbox.disown(name)
        if isinstance(told, Snapshot) and self._is_acting:
            self._outbox.clear(heard.kind.topic(name))  # of a referee that is not one any more
            return
        known = self._foreign.games.get(name)
        if self._seen is not None:
            self._seen.add(name)
        if isinstance(told, Snapshot):
            self._take(name, "snapshot", _payload(heard))
        elif isinstance(told, Plies):
            if known is not None and known.attempt == told.attempt:
                for number, ply in enumerate(told.plies, told.first):
                    self._take(name, "ply", {"number": number, **ply.model_dump()})
        elif isinstance(told, Result):
            if known is not None or not is_retained:  # those of the past would be a thousand, at every connection
                self._take(name, "end", _payload(heard))
        elif known is not None and heard.kind is messages.SNAPSHOT:
            self._forget(name)

    def _take(self, name: str, what: str, payload: Mapping[str, Any]) -> None:
        self._foreign.take(name, what, payload)
        self._local.publish(f"game/{name}/{what}", payload)


def _payload(heard: Heard) -> dict[str, Any]:
    assert heard.news is not None
    return heard.news.model_dump(exclude={"v", "sender"})


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


def _refusal(url: BrokerUrl, error: BaseException | None) -> BusError:
    """Why a broker cannot be used, for people."""
    text = str(error).lower()
    fix = "start it there, or change the setting mqtt"
    if "certificate" in text or "ssl" in text:
        fix = "set mqtt_ca to the file of the authority that signed its certificate, and name the host as it does"
    elif "user name" in text or "authori" in text:
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
