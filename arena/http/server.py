"""HTTP server with limits on headers, idle connections and connections per address.

Connections subclass aiohttp's public `RequestHandler`. To a request that cannot be parsed, aiohttp answers in plain
text with its own name and version, and no middleware sees it. This handler answers with a problem document instead.
"""

from __future__ import annotations

import asyncio
import resource
import secrets
import socket
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from arena import log
from arena.http.middleware import PLAIN_HEADERS
from arena.http.problem import Problem
from arena.http.rate_limit import ConcurrencyLimiter
from arena.http.request_context import CONTEXT, WebContext, address_key_of, is_in_networks

MAX_HEADER_BYTES = 16 * 1024
IDLE_TIMEOUT_S = 75.0
"""Timeout of an idle connection: longer than proxies keep a connection open."""
HEADER_TIMEOUT_S = 20.0
"""Timeout from the first byte of a request to the end of its headers, however slowly they arrive."""
UNREAD_TIMEOUT_S = 60.0
"""Timeout of sent data that the peer neither reads nor acknowledges."""

_OWN_DESCRIPTORS = 1000
"""Further open files: of the database, bots, uploads, spools."""

_logger = log.logger("web")


BACKLOG = 4096
"""Connections that may wait to be accepted: after a restart a thousand bots connect at the same moment."""


class Runner(web.AppRunner):
    """Runner of an application: `setup`, `listen`, `cleanup`."""

    def __init__(self, app: web.Application, *, shutdown_timeout: float) -> None:
        super().__init__(app, handle_signals=False, shutdown_timeout=shutdown_timeout)
        self._listening: list[asyncio.Server] = []

    async def listen(self, host: str, port: int) -> None:
        """Accept connections on an address. Raises OSError."""
        server = self.server
        assert server is not None, "call setup() first"
        loop, context = asyncio.get_running_loop(), self.app[CONTEXT]
        settings = context.settings
        connections = ConcurrencyLimiter(settings.connections_per_address, settings.max_connections)
        _allow_descriptors(settings.max_connections + _OWN_DESCRIPTORS)

        def connect() -> HttpConnection:
            return HttpConnection(
                server,
                loop=loop,
                context=context,
                connections=connections,
                access_log=None,
                keepalive_timeout=IDLE_TIMEOUT_S,
                max_field_size=MAX_HEADER_BYTES,
                max_line_size=MAX_HEADER_BYTES,
            )

        self._listening.append(await loop.create_server(connect, host, port, backlog=BACKLOG))

    @property
    def addresses(self) -> list[Any]:
        return [own.getsockname() for server in self._listening for own in server.sockets]

    async def cleanup(self) -> None:
        """Stop accepting connections, let running requests finish, close everything."""
        for server in self._listening:
            server.close()
        await super().cleanup()


def _allow_descriptors(count: int) -> None:
    """Raise this process's limit on open files, which shells set to 1024, as far as the system lets it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = count if hard == resource.RLIM_INFINITY else min(count, hard)
    if most < count:
        _logger.warning("the limit on open files is below max_connections", limit=hard, needed=count)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


class HttpConnection(web.RequestHandler):
    """One connection, counted against the limit of its address."""

    def __init__(
        self, server: web.Server, *, context: WebContext, connections: ConcurrencyLimiter, **options: Any
    ) -> None:
        super().__init__(server, **options)
        self._context, self._connections = context, connections
        self._counted_as = ""
        self._is_responding = False
        self._header_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Count the connection, or close it above the limit. Trusted proxies have no limit."""
        super().connection_made(transport)
        _bound_silence(transport)
        peer = transport.get_extra_info("peername")
        key = peer[0] if isinstance(peer, tuple) else ""
        if not key or is_in_networks(key, self._context.trusted):
            return
        key = address_key_of(key)
        if self._connections.enter(key):
            self._counted_as = key
        else:
            _logger.info("too many connections", peer=key)
            self.force_close()

    def data_received(self, data: bytes) -> None:
        """Pass data to the parser. The first byte after a response, or on a new connection, begins a request."""
        if not self._is_responding and self._header_timer is None:
            # aiohttp has no timeout of headers: its keep-alive timeout is that of an idle connection too.
            self._header_timer = asyncio.get_running_loop().call_later(HEADER_TIMEOUT_S, self._give_up)
        super().data_received(data)

    def _give_up(self) -> None:
        _logger.info("headers too slow", peer=self._counted_as)
        self.force_close()

    def begin_response(self) -> None:
        """End the timeout of the headers: they are complete, and what arrives now is the request's body."""
        self._is_responding = True
        self._stop_timer()

    async def finish_response(
        self, request: web.BaseRequest, resp: web.StreamResponse, start_time: float | None
    ) -> tuple[web.StreamResponse, bool]:
        """Send the response; what arrives afterwards is the next request."""
        try:
            return await super().finish_response(request, resp, start_time)
        finally:
            self._is_responding = False

    def _stop_timer(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None

    def connection_lost(self, exc: BaseException | None) -> None:
        """Stop counting the connection."""
        self._stop_timer()
        if self._counted_as:
            self._connections.leave(self._counted_as)
            self._counted_as = ""
        super().connection_lost(exc)

    def handle_error(
        self, request: web.BaseRequest, status: int = 500, exc: BaseException | None = None, message: str | None = None
    ) -> web.StreamResponse:
        """Respond to an error outside the application, such as an unparsable request, and close the connection."""
        number = secrets.token_hex(6)
        if request.writer.output_size > 0:
            raise ConnectionError("the response has started: its status cannot change")
        if status < 500:
            _logger.info("invalid http", request=number, status=status, reason=type(exc).__name__)
            problem = Problem("bad-request", "this is not a valid HTTP/1.1 request", hint="use a standard HTTP client")
        else:
            _logger.error("fault", request=number, exc_info=exc)
            problem = Problem("internal", "internal error; it has been logged", request=number)
        response = problem.response()
        response.headers.update(PLAIN_HEADERS)
        response.headers["X-Request-Id"] = number
        response.force_close()
        return response

    def log_exception(self, *args: Any, **words: Any) -> None:
        """Log an error outside the application; an invalid body or a lost connection only in one line."""
        error = words.get("exc_info")
        if isinstance(error, web.RequestPayloadError | ConnectionError):
            _logger.info("invalid http", reason=type(error).__name__)
        else:
            super().log_exception(*args, **words)


@web.middleware
async def headers_middleware(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """Tell the connection that a request's headers are complete."""
    if isinstance(request.protocol, HttpConnection):
        request.protocol.begin_response()
    return await handler(request)


def _bound_silence(transport: asyncio.BaseTransport) -> None:
    """Set `TCP_USER_TIMEOUT`: the kernel closes a connection whose peer no longer acknowledges or reads."""
    own = transport.get_extra_info("socket")
    if own is not None and own.family in (socket.AF_INET, socket.AF_INET6) and hasattr(socket, "TCP_USER_TIMEOUT"):
        own.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(UNREAD_TIMEOUT_S * 1000))
