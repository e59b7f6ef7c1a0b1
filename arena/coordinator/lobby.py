"""The lobby: connects remote bots, which run on their authors' machines, with the seats of games.

It lives in the process of the coordinator. A connection is a WebSocket of `arena.api.connection`, seen here as a
`LobbyTransport`. Slots connect over a local Unix socket, whose messages are described in `referee.bot.remote.link`. One
connection multiplexes several games: each message has the number of its game.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import shutil
import socket
import statistics
import tempfile
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

from arena.log import logger
from arena.store.bots.bots import ConnectedBot
from referee.bot.remote.link import LinkAllowance
from referee.bot.remote.seat import PING_MS

_MS = 1_000_000
LATENCY_SAMPLES = 16
"""Number of latest round trips from which the latency of a connection is computed."""
PING_INTERVAL_S = PING_MS / 1000
IDLE_PING_INTERVAL_S = 10.0
"""How often an idle connection is pinged."""
SILENCE_TIMEOUT_S = 12.0
"""A connection that does not answer a ping for so long is lost."""
MAX_BACKLOG_BYTES = 2**20
"""Maximum output of a program that its seat has not read yet; a program with more output is dropped."""
_FOLDER = "arena-lobby-"


class LobbyTransport(Protocol):
    """The transport of a connection; any exception means that the connection is lost."""

    def send(self, text: str) -> Awaitable[None]:
        """Send a message as one text frame."""

    def ping(self, mark: bytes) -> Awaitable[None]:
        """Send a ping whose pong has the same mark (see `Lobby.pong`)."""

    def close(self) -> Awaitable[object]:
        """Close the connection."""


@dataclass(eq=False)
class _Seat:
    """The side of a remote bot in a game that a slot plays."""

    writer: asyncio.StreamWriter
    bot: str
    connection: RelayConnection | None = None
    number: int = 0

    def send(self, **message: Any) -> None:
        if not self.writer.is_closing():
            self.writer.write(json.dumps(message).encode() + b"\n")


@dataclass(eq=False)
class RelayConnection:
    """The connection of one bot; `seats` has the games on it by number."""

    version_id: int
    bot: str
    most_games: int
    wire: LobbyTransport
    is_open: bool = False
    last_seen_ns: int = field(default_factory=time.monotonic_ns)
    seats: dict[int, _Seat] = field(default_factory=dict)
    outbox: asyncio.Queue[str] = field(default_factory=lambda: asyncio.Queue(maxsize=10_000))
    round_trips: deque[tuple[int, float]] = field(default_factory=lambda: deque(maxlen=512))
    """When each round trip ended, and how many milliseconds it took."""
    pings: dict[bytes, tuple[int, _Seat | None, int]] = field(default_factory=dict)
    """Pings in flight by their mark: when each was sent, the seat that requested it, and since when that seat waits."""

    @property
    def latency_ms(self) -> float | None:
        """Median duration of the latest round trips."""
        return round(statistics.median([took for _, took in self._lately]), 1) if self.round_trips else None

    @property
    def longest_ms(self) -> float:
        """Longest duration of the latest round trips."""
        return max((took for _, took in self._lately), default=0.0)

    @property
    def _lately(self) -> list[tuple[int, float]]:
        return list(self.round_trips)[-LATENCY_SAMPLES:]

    def enqueue(self, **message: Any) -> None:
        """Queue a message; it is dropped if the queue is full, as the connection is about to be lost."""
        with contextlib.suppress(asyncio.QueueFull):
            self.outbox.put_nowait(json.dumps(message))


class Lobby:
    """The lobby of one process. `is_open()` tells whether this process dispatches games.

    `on_change` is called in the event loop when the connected bots or their games change.
    """

    def __init__(self, terms: LinkAllowance) -> None:
        self.terms = terms
        self.is_open: Callable[[], bool] = lambda: True
        self.on_change: Callable[[], None] = lambda: None
        self.key = secrets.token_hex(16)
        """The secret that seats authenticate with."""
        self.place = ""
        """The path of the socket for seats."""
        self.runs: dict[str, str] = {}
        """By bot: the identifier that its newest connection got, which it sends again when it reconnects."""
        self._connections: dict[str, RelayConnection] = {}
        self._seats: set[_Seat] = set()
        self._last_seen: dict[str, int] = {}
        self._numbers = 0
        self._server: asyncio.Server | None = None
        self._log = logger("lobby")

    async def __aenter__(self) -> Lobby:
        # A private folder with a short path: paths of sockets are limited to 107 bytes.
        _sweep()
        place = Path(tempfile.mkdtemp(prefix=_FOLDER)) / "seats"
        # Rename the socket once it listens: before, another lobby would take it for a leftover and remove it.
        unnamed = place.with_name("new")
        # By default asyncio reads lines of at most 64 KiB; the position line of a long game may be longer.
        self._server = await asyncio.start_unix_server(self._serve, unnamed, limit=MAX_BACKLOG_BYTES)
        self.place = str(unnamed.rename(place))
        return self

    async def __aexit__(self, *_: object) -> None:
        for connection in list(self._connections.values()):
            await self._drop(connection)
        if self._server:
            self._server.close()
        for seat in list(self._seats):
            seat.writer.close()
        shutil.rmtree(Path(self.place).parent, ignore_errors=True)

    @property
    def present(self) -> dict[str, ConnectedBot]:
        """The connected bots, by version name. Thread-safe."""
        return {
            one.bot: ConnectedBot(one.version_id, len(one.seats), one.most_games, one.latency_ms, one.is_open)
            # A copy: the event loop connects bots while another thread reads this.
            for one in list(self._connections.values())
        }

    # -- connections ---------------------------------------------------------------------------------------------------

    async def attend(
        self,
        version_id: int,
        bot: str,
        most_games: int,
        wire: LobbyTransport,
        listening: Coroutine[Any, Any, object],
        *,
        is_open: bool = False,
    ) -> None:
        """Serve a connection until `listening` ends, the coroutine that calls `receive` and `pong`.

        The connection replaces an earlier connection of the same bot.
        """
        connection = RelayConnection(version_id, bot, most_games, wire, is_open)
        if earlier := self._connections.get(bot):
            problem = f"{bot} has connected again: each bot may have one connection"
            with contextlib.suppress(Exception):  # usually the earlier connection is lost already
                await asyncio.wait_for(earlier.wire.send(json.dumps({"problem": problem})), 1)
            await self._drop(earlier)
        self._connections[bot] = connection
        self._log.info("connected", bot=bot, games=most_games)
        for seat in self._seats:
            if seat.bot == bot:
                seat.send(back=True)
        self.on_change()
        tasks = [asyncio.ensure_future(job) for job in (listening, self._send(connection), self._ping(connection))]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._drop(connection)

    async def _drop(self, connection: RelayConnection) -> None:
        """Remove a connection that is lost or replaced."""
        self._last_seen[connection.bot] = connection.last_seen_ns
        if self._connections.get(connection.bot) is connection:
            del self._connections[connection.bot]
            self._log.info("disconnected", bot=connection.bot, games=len(connection.seats))
            self.on_change()
        for seat in connection.seats.values():
            seat.connection = None
            seat.send(down=connection.last_seen_ns)
        connection.seats.clear()
        with contextlib.suppress(Exception):  # it may be lost already
            await asyncio.wait_for(connection.wire.close(), 1)

    def receive(self, bot: str, wire: LobbyTransport, text: str) -> None:
        """Handle a message of a connection. Raises ValueError for an invalid one, after which the connection must be
        closed.
        """
        connection = self._of(bot, wire)
        if connection is None:
            return
        connection.last_seen_ns = time.monotonic_ns()
        message = json.loads(text)
        if "games" in message:  # the new limit: 0 when the bot is leaving
            connection.most_games = min(connection.most_games, max(0, int(message["games"])))
            self.on_change()
            return
        seat = connection.seats.get(message["game"])
        if seat is None:
            return  # the game is over
        if seat.writer.transport.get_write_buffer_size() > MAX_BACKLOG_BYTES:
            message = {"gone": f"wrote more than {MAX_BACKLOG_BYTES:,} bytes that the arena had not requested"}
        if "line" in message:
            seat.send(line=str(message["line"]))
        elif "gone" in message:
            self._leave(seat)
            seat.send(gone=str(message["gone"])[:300])

    def pong(self, bot: str, wire: LobbyTransport, mark: bytes) -> None:
        connection, now = self._of(bot, wire), time.monotonic_ns()
        if connection is None:
            return
        connection.last_seen_ns = now
        begin, seat, since = connection.pings.pop(mark, (0, None, 0))
        if not begin:
            return
        took = (now - begin) / _MS
        connection.round_trips.append((now, took))
        if seat is not None:
            seat.send(checked=max(long for at, long in connection.round_trips if at >= since))
        for playing in connection.seats.values():
            playing.send(latency=[connection.latency_ms, connection.longest_ms])

    def _of(self, bot: str, wire: LobbyTransport) -> RelayConnection | None:
        connection = self._connections.get(bot)
        return connection if connection and connection.wire is wire else None

    async def _send(self, connection: RelayConnection) -> None:
        while True:
            await connection.wire.send(await connection.outbox.get())

    async def _ping(self, connection: RelayConnection) -> None:
        """Ping the connection, more often while its bot plays; return when it is lost."""
        pinged_ns = 0
        while True:
            now = time.monotonic_ns()
            # Only with a ping in flight: an idle program has nothing to say.
            if connection.pings and now - connection.last_seen_ns > SILENCE_TIMEOUT_S * 1e9:
                return
            if not self.is_open():  # another process dispatches games now: the bot must connect to that one
                return
            if now - pinged_ns >= (PING_INTERVAL_S if connection.seats else IDLE_PING_INTERVAL_S) * 1e9:
                pinged_ns = now
                await self._send_ping(connection, None, now)
            # Each second even if idle: a game may begin, which needs the latency soon.
            await asyncio.sleep(PING_INTERVAL_S)

    async def _send_ping(self, connection: RelayConnection, seat: _Seat | None, since_ns: int) -> None:
        # Pongs may come unasked (RFC 6455, 5.5.3): only one with the mark of a ping in flight is a round trip.
        mark = secrets.token_hex(4).encode()
        connection.pings[mark] = (time.monotonic_ns(), seat, since_ns)
        await connection.wire.ping(mark)

    # -- seats ---------------------------------------------------------------------------------------------------------

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seat = _Seat(writer, "")
        try:
            hello = json.loads(await reader.readline() or b"{}")
            # In constant time: the folder is private, but a bot on this machine must not learn the key byte by byte.
            if not secrets.compare_digest(str(hello.get("key", "")), self.key):
                return
            seat.bot = str(hello["bot"])
            self._seats.add(seat)
            seat.send(terms=asdict(self.terms))
            while line := await reader.readline():
                await self._handle(seat, json.loads(line))
        except (ValueError, OSError):
            pass  # the slot is gone, or the peer is not a slot
        finally:
            self._leave(seat)
            self._seats.discard(seat)
            writer.close()

    async def _handle(self, seat: _Seat, message: Mapping[str, Any]) -> None:
        connection = seat.connection
        if "open" in message:
            self._open(seat)
        elif connection is None:
            return  # `down` has been sent already
        elif "say" in message:
            connection.enqueue(game=seat.number, say=message["say"])
        elif "check" in message:
            with contextlib.suppress(Exception):  # a connection that cannot be pinged is about to be dropped
                await self._send_ping(connection, seat, int(message["check"]))

    def _open(self, seat: _Seat) -> None:
        """Start the program for a seat under a new number, so that late output of an earlier program is ignored."""
        self._leave(seat)
        connection = self._connections.get(seat.bot)
        if connection is None:
            seat.send(down=self._last_seen.get(seat.bot, time.monotonic_ns()))
            return
        self._numbers += 1
        seat.connection, seat.number = connection, self._numbers
        connection.seats[seat.number] = seat
        connection.enqueue(game=seat.number, do="open")
        if connection.round_trips:
            seat.send(latency=[connection.latency_ms, connection.longest_ms])
        seat.send(up=True)
        self.on_change()

    def _leave(self, seat: _Seat) -> None:
        """End the program of a seat, if it runs."""
        if seat.connection:
            seat.connection.seats.pop(seat.number, None)
            seat.connection.enqueue(game=seat.number, do="close")
            seat.connection = None
            self.on_change()


def _sweep() -> None:
    """Remove the folders of lobbies whose process was killed: their socket refuses connections."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_FOLDER}*"):
        with socket.socket(socket.AF_UNIX) as knock:
            try:
                knock.connect(str(folder / "seats"))
            except ConnectionRefusedError:
                shutil.rmtree(folder, ignore_errors=True)
            except OSError:
                continue  # of another user, or not open yet
