"""`arena connect`: let a program on this machine play on a server, over one outgoing connection.

Lines are forwarded unchanged in both directions. Each game has its own process. After a lost connection the client
reconnects, and its games continue with new processes.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import signal
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from arena.cli.source import remote
from arena.cli.source.remote import ServerArguments
from arena.cli.terminal import argument, output
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.fields import option, positional
from arena.client import ApiClient, ClientError
from referee.errors import KINDS, kind_of_status

if TYPE_CHECKING:
    import aiohttp

    from referee.game.spec import BotSpec

LINE_BYTES = 8192
"""The longest line that the server takes."""
FRAME_BYTES = 16_000
"""And the longest message, quotes and all."""
_POSITION_BYTES = 2**20
PAUSES_S = (0.2, 4.0)
"""How long is waited before a lost connection is made again: the first time, and at most. Games wait half a minute."""
SETTLED_S = 1.0
"""A connection that lasted so long is lost by chance: it is made again at once."""
_SILENT_S = 30.0
"""The server is heard from more often than that."""
_LEAVING_S = 3.0
"""After the order to stop: how long no game may have begun. The next one of a pair follows at once."""


@dataclass(frozen=True, kw_only=True)
class ConnectArguments(ServerArguments):
    bot: str = positional("a program, a quoted command, sample:NAME or a folder", "BOT")
    server: str | None = option("the server (default: that of arena login)", "--url", "--server", metavar="URL")
    token: str | None = option("API token with the scope submit (default: that of arena login)", metavar="TOKEN")
    name: str = option(
        "name of the bot on the server; a new name makes a new bot",
        metavar="NAME",
        type=argument.name,
        default=MISSING,
    )
    family: tuple[str, ...] = option(
        "family that the bot plays; may be repeated",
        metavar="FAMILY",
        type=argument.family,
        default=MISSING,
        action="append",
    )
    games: int = option(
        "play COUNT games at once, each in its own process", metavar="COUNT", type=argument.positive, default=1
    )
    open: bool = option("let others challenge the bot, not only you", default=False)


def run(arguments: ConnectArguments) -> None:
    """Connect the bot, and play until a signal stops the command."""
    from referee.bot.argument import read_bot

    client = remote.client(arguments)
    if client.token is None:
        raise CommandError("connecting needs a token: --token, ARENA_TOKEN or `arena login`", Exit.REFUSED)
    try:
        spec = read_bot(arguments.bot, arguments.family[0])
    except ValueError as error:
        raise CommandError(str(error)) from None
    query = {"bot": arguments.name, "family": arguments.family, "games": arguments.games}
    if arguments.open:
        query["open"] = "true"
    asyncio.run(_stay(spec, client, query, client.token))


async def _stay(spec: BotSpec, client: ApiClient, query: Mapping[str, Any], token: str) -> None:
    import aiohttp

    from arena.cli.terminal.interrupt import heard

    url = f"{client.server}/api/v1/connect?{urlencode(query, doseq=True)}"

    aborted = asyncio.Event()
    run = ""
    with heard(asyncio.Event(), aborted.set) as interrupts:
        pause_s = PAUSES_S[0]
        while not interrupts.stop.is_set():
            begin = time.monotonic()
            connection = Connection(spec, interrupts.stop, aborted)
            try:
                reason = await connection.last(f"{url}&run={run}" if run else url, token)
            except aiohttp.WSServerHandshakeError as error:
                reason = await _refusal(client, query, error.status)
            run = connection.run or run
            if interrupts.stop.is_set():
                break
            if time.monotonic() - begin > SETTLED_S:
                pause_s = PAUSES_S[0]
            output.note(f"{reason}; trying again")
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(interrupts.stop.wait(), pause_s * random.uniform(0.5, 1.5))
            pause_s = min(2 * pause_s, PAUSES_S[1])


async def _refusal(client: ApiClient, query: Mapping[str, Any], status: int) -> str:
    """Return why the server takes no bots for now. Raises CommandError if it never will.

    aiohttp drops the body of a failed handshake: the same request without one gets the server's reason.
    """
    is_temporary = status >= 500 or status == 429
    reason, hint = f"it answers {status}", "" if is_temporary else "ask its operator whether WebSockets pass its proxy"
    try:
        await asyncio.to_thread(client.get, "/connect", **query)
    except ClientError as error:
        if error.kind != "bad-request":  # that one only says that the request was no handshake
            reason, hint = str(error), error.hint
    if is_temporary:
        return f"the server takes no bots now: {reason}{hint and f'; {hint}'}"
    raise CommandError(
        f"the server refuses the bot: {reason}{hint and f'; {hint}'}", KINDS[kind_of_status(status)].exit
    )


class Connection:
    """One connection to the server, with the programs that play over it and end with it.

    Once `stop` is set, no new games are accepted and running ones finish; `aborted` ends these at once.
    """

    def __init__(self, spec: BotSpec, stop: asyncio.Event, aborted: asyncio.Event) -> None:
        self._spec, self._stop, self._aborted = spec, stop, aborted
        self._programs: dict[int, Program] = {}
        self._pace = Pace(1)
        self._ended = time.monotonic()
        """When the last game ended."""
        self.run = ""
        """What the server wants to hear when this program connects again: it knows the bot then."""

    async def last(self, url: str, token: str) -> str:
        """Play until the connection ends; return why it ended. Raises WSServerHandshakeError if it is refused."""
        import aiohttp

        headers = {"Authorization": f"Bearer {token}"}
        try:
            waits = aiohttp.ClientWSTimeout(ws_close=1)
            async with (
                aiohttp.ClientSession(headers=headers) as session,
                session.ws_connect(url, max_msg_size=_POSITION_BYTES, timeout=waits) as socket,
            ):
                return await self._attend(socket)
        except aiohttp.WSServerHandshakeError:  # a ClientError, but no lost connection
            raise
        except aiohttp.ClientSSLError as error:
            raise CommandError(f"the server's certificate is not trusted: {error}", Exit.REFUSED) from None
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            return f"no connection: {error or type(error).__name__}"
        finally:
            await self._end_all()

    async def _attend(self, socket: aiohttp.ClientWebSocketResponse) -> str:
        hearing = asyncio.ensure_future(self._hear(socket))
        leaving = asyncio.ensure_future(self._leave(socket))
        done, rest = await asyncio.wait({hearing, leaving}, return_when=asyncio.FIRST_COMPLETED)
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)
        return done.pop().result()

    async def _hear(self, socket: aiohttp.ClientWebSocketResponse) -> str:
        from aiohttp import WSMsgType

        while True:
            try:
                message = await socket.receive(_SILENT_S)
            except TimeoutError:
                return "the server is silent"
            if message.type is WSMsgType.CLOSE and message.extra:
                return f"the server takes no bots now: {message.extra}"
            if not isinstance(message.data, str):
                return "the connection is lost"
            await self._do(json.loads(message.data), socket)

    async def _leave(self, socket: aiohttp.ClientWebSocketResponse) -> str:
        """Wait until `stop` is set; then accept no more games, and return when the running ones have ended."""
        await self._stop.wait()
        await socket.send_str(json.dumps({"games": 0}))
        while not self._aborted.is_set() and (self._programs or time.monotonic() - self._ended < _LEAVING_S):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._aborted.wait(), 0.2)
        return "left"

    async def _do(self, message: dict[str, Any], socket: aiohttp.ClientWebSocketResponse) -> None:
        if "problem" in message:
            raise CommandError(str(message["problem"]), Exit.REFUSED)
        if "bot" in message:
            self.run = str(message.get("run", ""))
            self._pace = Pace(int(message["games"]))
            output.text(f"connected as {message['bot']}, {message['games']} games at once")
            return
        number = int(message["game"])
        if message.get("do") == "open":
            self._programs[number] = program = Program(self._spec, number, socket, self._pace)
            await program.start()
        elif message.get("do") == "close":
            if number in self._programs:
                self._ended = time.monotonic()
                await self._programs.pop(number).end()
        elif number in self._programs:
            await self._programs[number].say(str(message["say"]))

    async def _end_all(self) -> None:
        programs, self._programs = self._programs, {}
        await asyncio.gather(*(program.end() for program in programs.values()), return_exceptions=True)


class Pace:
    """Rate limit of the programs' output: the server closes a connection that sends too many messages."""

    def __init__(self, games: int) -> None:
        from arena.api.connection import message_cost, message_rate
        from arena.http.rate_limit import Rate, RateLimiter

        allowed, self._cost = message_rate(games), message_cost
        # Half the server's burst: a slow network may deliver at once what was sent over several seconds.
        self._limiter = RateLimiter(Rate(allowed.per_minute, allowed.burst // 2))

    async def wait(self, text: str, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        """Wait until a message may be sent."""
        while wait_s := self._limiter.take("", self._cost(text)):
            await sleep(wait_s)


class Program:
    """The process that plays one game."""

    def __init__(self, spec: BotSpec, number: int, socket: aiohttp.ClientWebSocketResponse, pace: Pace) -> None:
        self._spec, self._number, self._socket, self._pace = spec, number, socket, pace
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start the process; a failure is reported to the server as the end of the program."""
        from referee.bot.argument import author_path

        words = list(self._spec.command)
        if self._spec.folder and os.sep in words[0]:
            words[0] = str(Path(self._spec.folder, words[0]).resolve())
        pipe = asyncio.subprocess.PIPE
        try:
            self._process = await asyncio.create_subprocess_exec(
                *words,
                stdin=pipe,
                stdout=pipe,
                cwd=self._spec.folder,
                env=os.environ | {"PATH": author_path()},
                start_new_session=True,
                limit=LINE_BYTES + 2,
            )
        except OSError as error:
            await self._tell(gone=f"cannot be started: {error.strerror or error}")
            return
        self._reading = asyncio.create_task(self._read(self._process))

    async def _tell(self, **message: str) -> None:
        text = json.dumps({"game": self._number, **message})
        await self._pace.wait(text)
        with contextlib.suppress(ConnectionError, RuntimeError):  # the connection is lost: others see to that
            await self._socket.send_str(text)

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout
        while True:
            try:
                line = await process.stdout.readuntil(b"\n")
            except asyncio.IncompleteReadError:
                break
            except asyncio.LimitOverrunError:
                await self._tell(gone=f"wrote a line of more than {LINE_BYTES:,} bytes")
                return
            text = line.rstrip(b"\r\n").decode("utf-8", "replace")
            if len(json.dumps(text)) > FRAME_BYTES:
                await self._tell(gone="wrote a long line that is not text")
                return
            await self._tell(line=text)
        code = await process.wait()
        await self._tell(gone=f"exit code {code}" if code >= 0 else f"killed by signal {-code}")

    async def say(self, lines: str) -> None:
        """Send lines to the program; if it has ended, `_read` reports that."""
        if self._process and self._process.stdin:
            self._process.stdin.write(lines.encode() + b"\n")
            with contextlib.suppress(ConnectionError):
                await self._process.stdin.drain()

    async def end(self) -> None:
        """Kill the process and all processes it started."""
        if self._reading:
            self._reading.cancel()
        if self._process:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            await self._process.wait()
