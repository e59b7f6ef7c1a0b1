"""The lobby: where bots that run on their authors' machines are connected, and where the seats of games find them.

It is in the process of the coordinator. A connection is somebody else's (a WebSocket, see `arena.http.remote`): here it
is what can be sent to. Game slots come over a socket of this machine (`referee.remote.link` says what is said there).
A connection carries several games at once, each message with the number of its own.
Refuses to know who may connect, and what a line says.
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
from referee.remote.link import Terms
from referee.remote.seat import PING_MS

_MS = 1_000_000
LATENCY_SAMPLES = 16
"""Of so many of the last messages there and back is a connection's latency told."""
PING_INTERVAL_S = PING_MS / 1000
IDLE_PING_INTERVAL_S = 10.0
"""How often an idle connection is asked whether it is there."""
SILENCE_TIMEOUT_S = 12.0
"""A connection that was asked and says nothing for so long is lost."""
MAX_BACKLOG_BYTES = 2**20
"""A program that says more than that before its seat takes it is no longer listened to."""
_FOLDER = "arena-lobby-"


class Wire(Protocol):
    """How a connection is spoken to; any failure means that it is lost."""

    def send(self, text: str) -> Awaitable[None]:
        """A message."""

    def ping(self, mark: bytes) -> Awaitable[None]:
        """Something that comes back at once with that mark (see `Lobby.pong`)."""

    def close(self) -> Awaitable[object]:
        """Hang up."""


@dataclass(frozen=True, slots=True)
class Presence:
    """A bot that is connected: how many games it plays of how many it takes, and its usual latency."""

    version_id: int
    games: int
    most_games: int
    latency_ms: float | None
    is_open: bool
    """Whether others may challenge it."""


@dataclass(eq=False)
class _Seat:
    """A side of a game that a slot plays."""

    writer: asyncio.StreamWriter
    bot: str
    connection: Connection | None = None
    number: int = 0

    def tell(self, **message: Any) -> None:
        if not self.writer.is_closing():
            self.writer.write(json.dumps(message).encode() + b"\n")


@dataclass(eq=False)
class Connection:
    """One bot's connection, with its games by their numbers."""

    version_id: int
    bot: str
    most_games: int
    wire: Wire
    is_open: bool = False
    heard_ns: int = field(default_factory=time.monotonic_ns)
    seats: dict[int, _Seat] = field(default_factory=dict)
    outbox: asyncio.Queue[str] = field(default_factory=lambda: asyncio.Queue(maxsize=10_000))
    trips: deque[tuple[int, float]] = field(default_factory=lambda: deque(maxlen=512))
    """When a message was there and back, and how many milliseconds that took."""
    asked: dict[bytes, tuple[int, _Seat | None, int]] = field(default_factory=dict)
    """What is on its way: since when, who wants to know, and since when that one asks."""

    @property
    def latency_ms(self) -> float | None:
        """What a message usually takes there and back."""
        return round(statistics.median([took for _, took in self._lately]), 1) if self.trips else None

    @property
    def longest_ms(self) -> float:
        """What one took lately, at most."""
        return max((took for _, took in self._lately), default=0.0)

    @property
    def _lately(self) -> list[tuple[int, float]]:
        return list(self.trips)[-LATENCY_SAMPLES:]

    def say(self, **message: Any) -> None:
        """Send a message, in its turn; to one that takes none any more it is lost, as is the connection soon."""
        with contextlib.suppress(asyncio.QueueFull):
            self.outbox.put_nowait(json.dumps(message))


class Lobby:
    """`is_open` says whether this process has games to give; `on_change` hears, in the loop, of every change."""

    def __init__(
        self,
        terms: Terms,
        is_open: Callable[[], bool] = lambda: True,
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        self.terms = terms
        self.is_open = is_open
        self.on_change = on_change
        self.key = secrets.token_hex(16)
        """What a seat must know."""
        self.place = ""
        """The path of the socket for seats."""
        self.runs: dict[str, str] = {}
        """By bot: what its newest connection was told, and says when it comes again."""
        self._connections: dict[str, Connection] = {}
        self._seats: set[_Seat] = set()
        self._heard: dict[str, int] = {}
        self._numbers = 0
        self._server: asyncio.Server | None = None
        self._log = logger("lobby")

    async def __aenter__(self) -> Lobby:
        # A folder of its own with a short path: those of sockets have at most 107 bytes, and nobody else may look in.
        _sweep()
        place = Path(tempfile.mkdtemp(prefix=_FOLDER)) / "seats"
        # It gets its name when somebody listens: another lobby takes one that refuses for what was left behind.
        unnamed = place.with_name("new")
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
    def present(self) -> dict[str, Presence]:
        """Who is connected, by the name of the version. From any thread."""
        return {
            one.bot: Presence(one.version_id, len(one.seats), one.most_games, one.latency_ms, one.is_open)
            for one in list(self._connections.values())
        }

    # -- connections ---------------------------------------------------------------------------------------------------

    async def attend(
        self,
        version_id: int,
        bot: str,
        most_games: int,
        wire: Wire,
        hear: Coroutine[Any, Any, object],
        *,
        is_open: bool = False,
    ) -> None:
        """A bot is connected for as long as `hear` goes on, which calls `heard` and `pong`. One bot, one connection:
        the newest.
        """
        connection = Connection(version_id, bot, most_games, wire, is_open)
        if earlier := self._connections.get(bot):
            problem = f"{bot} has connected once more, from another place or another time: one connection a bot"
            with contextlib.suppress(Exception):  # most often it is lost, and nobody hears that
                await asyncio.wait_for(earlier.wire.send(json.dumps({"problem": problem})), 1)
            await self._drop(earlier)
        self._connections[bot] = connection
        self._log.info("connected", bot=bot, games=most_games)
        for seat in self._seats:
            if seat.bot == bot:
                seat.tell(back=True)
        self.on_change()
        tasks = [asyncio.ensure_future(job) for job in (hear, self._send(connection), self._ping(connection))]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._drop(connection)

    async def _drop(self, connection: Connection) -> None:
        """The connection is lost, or replaced."""
        self._heard[connection.bot] = connection.heard_ns
        if self._connections.get(connection.bot) is connection:
            del self._connections[connection.bot]
            self._log.info("disconnected", bot=connection.bot, games=len(connection.seats))
            self.on_change()
        for seat in connection.seats.values():
            seat.connection = None
            seat.tell(down=connection.heard_ns)
        connection.seats.clear()
        with contextlib.suppress(Exception):  # it is lost already
            await asyncio.wait_for(connection.wire.close(), 1)

    def heard(self, bot: str, wire: Wire, text: str) -> None:
        """A message of a connection. Raises ValueError for what makes no sense: such a connection is to be closed."""
        connection = self._of(bot, wire)
        if connection is None:
            return
        connection.heard_ns = time.monotonic_ns()
        message = json.loads(text)
        if "games" in message:  # it takes so many from now on: none, as it is leaving
            connection.most_games = min(connection.most_games, max(0, int(message["games"])))
            self.on_change()
            return
        seat = connection.seats.get(message["game"])
        if seat is None:
            return  # of a game that is over
        if seat.writer.transport.get_write_buffer_size() > MAX_BACKLOG_BYTES:
            message = {"gone": f"wrote more than {MAX_BACKLOG_BYTES:,} bytes that nobody had asked for"}
        if "line" in message:
            seat.tell(line=str(message["line"]))
        elif "gone" in message:
            self._leave(seat)
            seat.tell(gone=str(message["gone"])[:300])

    def pong(self, bot: str, wire: Wire, mark: bytes) -> None:
        """What was sent with `ping` is back."""
        connection, now = self._of(bot, wire), time.monotonic_ns()
        if connection is None:
            return
        connection.heard_ns = now
        begin, seat, since = connection.asked.pop(mark, (0, None, 0))
        if not begin:
            return
        took = (now - begin) / _MS
        connection.trips.append((now, took))
        if seat is not None:
            seat.tell(checked=max(long for at, long in connection.trips if at >= since))
        for each in connection.seats.values():
            each.tell(latency=[connection.latency_ms, connection.longest_ms])

    def _of(self, bot: str, wire: Wire) -> Connection | None:
        connection = self._connections.get(bot)
        return connection if connection and connection.wire is wire else None

    async def _send(self, connection: Connection) -> None:
        while True:
            await connection.wire.send(await connection.outbox.get())

    async def _ping(self, connection: Connection) -> None:
        """See whether it is there, often while it plays; returns when it is not."""
        asked_ns = 0
        while True:
            now = time.monotonic_ns()
            if connection.asked and now - connection.heard_ns > SILENCE_TIMEOUT_S * 1e9:
                return
            if not self.is_open():
                return
            if now - asked_ns >= (PING_INTERVAL_S if connection.seats else IDLE_PING_INTERVAL_S) * 1e9:
                asked_ns = now
                await self._ask(connection, None, now)
            await asyncio.sleep(PING_INTERVAL_S)

    async def _ask(self, connection: Connection, seat: _Seat | None, since_ns: int) -> None:
        mark = secrets.token_hex(4).encode()
        connection.asked[mark] = (time.monotonic_ns(), seat, since_ns)
        await connection.wire.ping(mark)

    # -- seats ---------------------------------------------------------------------------------------------------------

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seat = _Seat(writer, "")
        try:
            hello = json.loads(await reader.readline() or b"{}")
            if not secrets.compare_digest(str(hello.get("key", "")), self.key):
                return
            seat.bot = str(hello["bot"])
            self._seats.add(seat)
            seat.tell(terms=asdict(self.terms))
            while line := await reader.readline():
                await self._take(seat, json.loads(line))
        except (ValueError, OSError):
            pass  # the slot is gone, or was no slot
        finally:
            self._leave(seat)
            self._seats.discard(seat)
            writer.close()

    async def _take(self, seat: _Seat, message: Mapping[str, Any]) -> None:
        connection = seat.connection
        if "open" in message:
            self._open(seat)
        elif connection is None:
            return  # it has been told that there is none, or will read it next
        elif "say" in message:
            connection.say(game=seat.number, say=message["say"])
        elif "check" in message:
            with contextlib.suppress(Exception):  # a connection that cannot be asked is about to be dropped
                await self._ask(connection, seat, int(message["check"]))

    def _open(self, seat: _Seat) -> None:
        """A fresh program, with a number of its own: what an earlier one still says reaches nobody."""
        self._leave(seat)
        connection = self._connections.get(seat.bot)
        if connection is None:
            seat.tell(down=self._heard.get(seat.bot, time.monotonic_ns()))
            return
        self._numbers += 1
        seat.connection, seat.number = connection, self._numbers
        connection.seats[seat.number] = seat
        connection.say(game=seat.number, do="open")
        if connection.trips:
            seat.tell(latency=[connection.latency_ms, connection.longest_ms])
        seat.tell(up=True)
        self.on_change()

    def _leave(self, seat: _Seat) -> None:
        """The program of a seat is to end, where it runs."""
        if seat.connection:
            seat.connection.seats.pop(seat.number, None)
            seat.connection.say(game=seat.number, do="close")
            seat.connection = None
            self.on_change()


def _sweep() -> None:
    """Remove what lobbies left behind whose process was killed: nobody listens there."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_FOLDER}*"):
        with socket.socket(socket.AF_UNIX) as knock:
            try:
                knock.connect(str(folder / "seats"))
            except ConnectionRefusedError:
                shutil.rmtree(folder, ignore_errors=True)
            except OSError:
                continue  # somebody else's, or not open yet
