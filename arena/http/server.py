"""Serve an application with bounds on headers, idle connections and connections of one address.

Subclasses aiohttp's public `RequestHandler`: its own answer to a request it cannot parse is plain text with its name
and version in it, and passes no middleware; ours is a problem document.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
from typing import Any

from aiohttp import web

from arena import log
from arena.http.middleware import PLAIN_HEADERS
from arena.http.problem import Problem
from arena.http.rate_limit import ConcurrencyLimiter
from arena.http.request_context import CONTEXT, WebContext, address_key_of, is_in_networks

MAX_HEADER_BYTES = 16 * 1024
IDLE_TIMEOUT_S = 75.0
"""How long a connection may be idle, and the headers of a request may take: longer than proxies keep one open."""
UNREAD_TIMEOUT_S = 60.0
"""How long sent data may stay unread, or unacknowledged by a peer that is gone."""
MAX_CONNECTIONS = 5000
"""Of all addresses together."""

_logger = log.logger("web")


class Runner(web.AppRunner):
    """Run an application: `setup`, `listen`, `cleanup`."""

    def __init__(self, app: web.Application, *, shutdown_timeout: float) -> None:
        super().__init__(app, handle_signals=False, shutdown_timeout=shutdown_timeout)
        self._listening: list[asyncio.Server] = []

    async def listen(self, host: str, port: int, *, backlog: int = 128) -> None:
        """Take connections on an address. Raises OSError."""
        server = self.server
        assert server is not None, "call setup() first"
        loop, context = asyncio.get_running_loop(), self.app[CONTEXT]
        gate = ConcurrencyLimiter(context.settings.connections_per_address, MAX_CONNECTIONS)

        def connect() -> HttpConnection:
            return HttpConnection(
                server,
                loop=loop,
                context=context,
                gate=gate,
                access_log=None,
                keepalive_timeout=IDLE_TIMEOUT_S,
                max_field_size=MAX_HEADER_BYTES,
                max_line_size=MAX_HEADER_BYTES,
            )

        self._listening.append(await loop.create_server(connect, host, port, backlog=backlog))

    @property
    def addresses(self) -> list[Any]:
        """What it listens on, as sockets name it."""
        return [own.getsockname() for server in self._listening for own in server.sockets]

    async def cleanup(self) -> None:
        """Take no more connections, let running requests finish, close everything."""
        for server in self._listening:
            server.close()
        await super().cleanup()


class HttpConnection(web.RequestHandler):
    """One connection; `gate` counts those of its address."""

    def __init__(self, server: web.Server, *, context: WebContext, gate: ConcurrencyLimiter, **options: Any) -> None:
        super().__init__(server, **options)
        self._context, self._gate = context, gate
        self._counted_as = ""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Count it, or cut it where there are too many. Trusted proxies may have any number."""
        super().connection_made(transport)
        _bound_silence(transport)
        peer = transport.get_extra_info("peername")
        key = peer[0] if isinstance(peer, tuple) else ""
        if not key or is_in_networks(key, self._context.trusted):
            return
        key = address_key_of(key)
        if self._gate.enter(key):
            self._counted_as = key
        else:
            _logger.info("too many connections", peer=key)
            self.force_close()

    def connection_lost(self, exc: BaseException | None) -> None:
        """Count it no more."""
        if self._counted_as:
            self._gate.leave(self._counted_as)
            self._counted_as = ""
        super().connection_lost(exc)

    def handle_error(
        self, request: web.BaseRequest, status: int = 500, exc: BaseException | None = None, message: str | None = None
    ) -> web.StreamResponse:
        """Answer what never reached the application, or what went wrong outside of it, and close the connection."""
        number = secrets.token_hex(6)
        if request.writer.output_size > 0:
            raise ConnectionError("an answer has begun: nothing else can be said")
        if status < 500:
            _logger.info("invalid http", request=number, status=status, reason=type(exc).__name__)
            problem = Problem("bad-request", "this is not HTTP/1.1 as it should be", hint="ask with a usual client")
        else:
            _logger.error("fault", request=number, exc_info=exc)
            problem = Problem("internal", "a fault of this server, which has been noted", request=number)
        response = problem.response()
        response.headers.update(PLAIN_HEADERS)
        response.headers["X-Request-Id"] = number
        response.force_close()
        return response


def _bound_silence(transport: asyncio.BaseTransport) -> None:
    """Have the system end a connection whose peer acknowledges or reads nothing any more."""
    own = transport.get_extra_info("socket")
    if own is not None and own.family in (socket.AF_INET, socket.AF_INET6) and hasattr(socket, "TCP_USER_TIMEOUT"):
        own.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(UNREAD_TIMEOUT_S * 1000))
