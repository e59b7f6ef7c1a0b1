"""The WebSocket endpoint `/api/v1/connect`, over which bots on their authors' machines play.

The process with the lobby (the coordinator) serves it. A web process without a lobby relays the connection to that
process, unread and in both directions. Messages are JSON, one per frame, with the number of their game; they carry
lines of the wire protocol (`protocol/SPEC.md`).

Only bearer tokens are accepted: browsers send cookies with a WebSocket from any site. A connection that sends more than
`message_rate` is closed with a reason.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterable, AsyncIterator, Awaitable
from socket import SOCK_STREAM
from typing import Annotated

import aiohttp
from aiohttp import WSMsgType, web
from pydantic import Field
from yarl import URL

from arena import services
from arena.api.handle import read_query
from arena.api.introduction import introduced
from arena.api.registry import BotName, FamilyName, In
from arena.coordinator.lobby import Lobby
from arena.errors import StoreUnavailableError
from arena.http.identity import identify
from arena.http.problem import PREFIX, Problem, too_many
from arena.http.rate_limit import Rate, RateLimiter
from arena.http.request_context import CONTEXT, IDENTITY, RequestContext, WebContext, require
from arena.log import logger
from referee.errors import ArenaError

PATH = f"{PREFIX}/connect"
FRAME_BYTES = 16 * 1024
"""Maximum size of a message from a bot; a protocol line has at most 8 KiB."""
_RELAYED_BYTES = 2**20
"""Maximum size of a message to a bot: a position with all moves of a long game."""
_CLOSE_TIMEOUT_S = 2.0
_REASON_BYTES = 123
"""Maximum length of the reason in a close frame (RFC 6455, 5.5)."""
_MESSAGES = "the messages of remote bots in the protocol's specification"
POLL_INTERVAL_S = 15.0
"""Seconds between checks whether the token is still valid."""

_logger = logger("connect")


class ConnectQuery(In):
    """The bot that connects, the families it plays, how many games at once, and whether others may challenge it.

    `run` is the identifier that the server sent over an earlier connection. A bot that returns it needs no handshake.
    """

    bot: BotName
    family: Annotated[list[FamilyName], Field(min_length=1, max_length=20)]
    games: Annotated[int, Field(ge=1, le=64)] = 1
    open: bool = False
    run: Annotated[str, Field(max_length=40)] = ""


def message_rate(games: int) -> Rate:
    """Return how many messages a connection may send: 50 a second, plus 20 for each of its concurrent games.

    In a burst, the messages of 20 seconds may come at once. See `message_cost`.
    """
    per_second = 50 + 20 * games
    return Rate(60 * per_second, 20 * per_second)


def message_cost(data: str | bytes) -> float:
    """Return the cost of a message for the rate limit: 1, plus 1 for each KiB."""
    return 1 + len(data) / 1024


async def _messages(socket: web.WebSocketResponse, games: int) -> AsyncIterator[aiohttp.WSMessage]:
    """Yield the messages of a bot until its connection ends. A bot that sends too many is disconnected."""
    rate = message_rate(games)
    limiter = RateLimiter(rate)
    async for message in socket:
        if message.type is WSMsgType.ERROR:
            return
        if limiter.take("", message_cost(message.data or b"")):
            allowed = f"{rate.per_minute / 60:.0f} messages or KiB a second are allowed"
            await socket.send_json({"problem": f"too many messages: {allowed}; let the bot write fewer info lines"})
            await socket.close(code=aiohttp.WSCloseCode.POLICY_VIOLATION, message=b"too many messages")
            return
        yield message
        await asyncio.sleep(0)  # messages that have arrived already are read without giving others a turn


class _Socket:
    """Adapter of a WebSocket to the interface of the lobby."""

    def __init__(self, socket: web.WebSocketResponse) -> None:
        self._socket = socket

    def send(self, text: str) -> Awaitable[None]:
        return self._socket.send_str(text)

    def ping(self, mark: bytes) -> Awaitable[None]:
        return self._socket.ping(mark)

    def close(self) -> Awaitable[object]:
        return self._socket.close(code=aiohttp.WSCloseCode.GOING_AWAY)


async def connect(request: web.Request) -> web.StreamResponse:
    """Serve a connection or relay it. Raises Problem."""
    context = request.app[CONTEXT]
    identity = await identify(request) if "Authorization" in request.headers else None
    call = RequestContext(request, context, identity)
    if wait := await context.limiters["write"].admit(call.key):
        raise too_many(wait)
    require(identity, "submit")
    query = read_query(ConnectQuery, request)
    assert isinstance(query, ConnectQuery)
    _require_referee(context)  # also of a plain request: by one, clients ask why a handshake failed
    if not web.WebSocketResponse().can_prepare(request):
        raise Problem("bad-request", "this address accepts only WebSocket connections", hint="use `arena connect`")
    if not context.streams.enter(call.key):
        raise Problem("too-many", f"too many connections: you have {context.streams.each} open", hint="close one first")
    try:
        if context.lobby is not None:
            return await _attend(call, context.lobby, query)
        return await _relayed(call, context.settings.remote_referee, _games(call, query))
    finally:
        context.streams.leave(call.key)


def _require_referee(context: WebContext) -> None:
    """Raise Problem if neither this process nor one that it relays to lets remote bots play."""
    if context.lobby is None and not context.settings.remote_referee:
        raise Problem("unavailable", "remote bots are disabled on this server", hint="ask its operator")
    if context.lobby is not None and not context.lobby.is_open():
        raise Problem(
            "unavailable",
            "the coordinator on this address is a standby",
            hint="try again",
            headers={"Retry-After": "2"},
        )


def _games(call: RequestContext, query: ConnectQuery) -> int:
    """Return how many concurrent games this connection gets."""
    return min(query.games, call.context.settings.max_remote_games)


async def _attend(call: RequestContext, lobby: Lobby, query: ConnectQuery) -> web.StreamResponse:
    # aiohttp would swallow the pongs, by which the lobby measures the connection.
    socket = web.WebSocketResponse(autoping=False, max_msg_size=FRAME_BYTES, timeout=_CLOSE_TIMEOUT_S)
    await socket.prepare(call.request)
    admitted = await _admitted(call, lobby, query, socket)
    if admitted is None:
        await socket.close()
        return socket
    version, name = admitted
    games = _games(call, query)
    await socket.send_json({"bot": name, "games": games, "run": lobby.runs[query.bot]})
    wire = _Socket(socket)

    async def hear() -> None:
        async for message in _messages(socket, games):
            if message.type is WSMsgType.TEXT:
                try:
                    lobby.receive(name, wire, message.data)
                except (ValueError, KeyError, TypeError, AttributeError):
                    _logger.info("invalid message", bot=name)
                    await socket.send_json({"problem": f"invalid message {message.data[:60]!r}; see {_MESSAGES}"})
                    return
            elif message.type is WSMsgType.PING:
                await socket.pong(message.data)
            elif message.type is WSMsgType.PONG:
                lobby.pong(name, wire, bytes(message.data))
            else:
                return

    closing = asyncio.ensure_future(call.context.closing.wait())
    attending = asyncio.ensure_future(lobby.attend(version, name, games, wire, hear(), is_open=query.open))
    revoked = asyncio.ensure_future(_revoked(call.request))
    tasks = (closing, attending, revoked)
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if revoked.done():
            await socket.send_json({"problem": "the token is no longer valid: connect with another"})
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        with contextlib.suppress(Exception):
            await socket.close()
    return socket


async def _admitted(
    call: RequestContext, lobby: Lobby, query: ConnectQuery, socket: web.WebSocketResponse
) -> tuple[int, str] | None:
    """Return id and name of the version that plays on this connection; None if the version was refused.

    A refusal is sent over the socket, because the HTTP response has been sent already.
    """
    is_known = bool(query.run) and lobby.runs.get(query.bot) == query.run
    try:
        announced = None if is_known else await introduced(socket)
        version = await call.run(services.remote.admit, call.arena, query.bot, query.family, call.user, announced)
    except ArenaError as error:
        if error.kind == "unavailable":
            reason = str(error).encode("ascii", "replace")[:_REASON_BYTES]
            await socket.close(code=aiohttp.WSCloseCode.TRY_AGAIN_LATER, message=reason)
        else:
            await socket.send_json({"problem": f"{error}; {error.hint}" if error.hint else str(error)})
        return None
    except ConnectionError:  # it has disconnected
        return None
    except ValueError:
        await socket.send_json({"problem": f"invalid message during the handshake; see {_MESSAGES}"})
        return None
    if not is_known:
        lobby.runs[query.bot] = secrets.token_hex(8)
    return version.id or 0, version.name


async def _revoked(request: web.Request) -> None:
    """Wait until the token of a connection is no longer valid or lacks the required scope."""
    while True:
        await asyncio.sleep(POLL_INTERVAL_S)
        request.pop(IDENTITY, None)  # drop the cached identity
        try:
            require(await identify(request), "submit")
        except Problem:
            return
        except StoreUnavailableError:
            continue  # the database is away: check again later


async def _relayed(call: RequestContext, referees: str, games: int) -> web.StreamResponse:
    """Connect to the first address that accepts, that of the active coordinator, and relay messages. Raises Problem."""
    request, closing = call.request, call.context.closing
    headers = {"Authorization": request.headers.get("Authorization", "")}
    async with aiohttp.ClientSession(headers=headers) as session:
        for place in await _places(referees):
            try:
                there = await session.ws_connect(
                    f"{place.rstrip('/')}{request.rel_url}", autoping=False, max_msg_size=_RELAYED_BYTES
                )
            except aiohttp.WSServerHandshakeError as error:
                if error.status not in (503, 507):
                    raise Problem("bad-request", f"the coordinator rejected the connection ({error.status})") from None
                continue
            except (aiohttp.ClientError, OSError, TimeoutError):
                continue
            here = web.WebSocketResponse(autoping=False, max_msg_size=FRAME_BYTES, timeout=_CLOSE_TIMEOUT_S)
            await here.prepare(request)
            passing = (_pass(_messages(here, games), there), _pass(_all(there), here))
            ways = [asyncio.ensure_future(way) for way in (*passing, closing.wait())]
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for way in ways:
                    way.cancel()
                await asyncio.gather(*ways, return_exceptions=True)
                await there.close()
                with contextlib.suppress(Exception):
                    await here.close(code=aiohttp.WSCloseCode.GOING_AWAY)
            return here
    raise Problem(
        "unavailable",
        "no coordinator accepts remote bots at the moment",
        hint="try again",
        headers={"Retry-After": "2"},
    )


async def _places(referees: str) -> list[str]:
    """Return every address of these URLs. A name may resolve to several coordinators, of which one is active."""
    places: list[str] = []
    for place in referees.split():
        url = URL(place)
        if url.scheme != "http" or url.host is None:  # keep the name: certificates are issued for names
            places.append(place)
            continue
        with contextlib.suppress(OSError):
            for *_, address in await asyncio.get_running_loop().getaddrinfo(url.host, url.port, type=SOCK_STREAM):
                places.append(str(url.with_host(str(address[0]))))
    return list(dict.fromkeys(places))


async def _all(socket: aiohttp.ClientWebSocketResponse) -> AsyncIterator[aiohttp.WSMessage]:
    """Yield the messages of the coordinator until its connection ends, and last the one that ends it."""
    while True:
        message = await socket.receive()
        yield message
        if message.type not in (WSMsgType.TEXT, WSMsgType.PING, WSMsgType.PONG):
            return


_Socketed = web.WebSocketResponse | aiohttp.ClientWebSocketResponse


async def _pass(source: AsyncIterable[aiohttp.WSMessage], target: _Socketed) -> None:
    """Forward all messages from one end to the other. Pings and pongs are included, so that latency is measured end to
    end.
    """
    async for message in source:
        match message.type:
            case WSMsgType.TEXT:
                await target.send_str(message.data)
            case WSMsgType.PING:
                await target.ping(bytes(message.data))
            case WSMsgType.PONG:
                await target.pong(bytes(message.data))
            case WSMsgType.CLOSE:
                await target.close(code=message.data, message=str(message.extra or "").encode())
                return
            case _:
                return
