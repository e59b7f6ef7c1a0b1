"""How the application meets the wire: bounds of headers, of connections and of silence on them, and an answer in our
form to what is hardly HTTP.

The library's own answer to a request it cannot parse is plain text with its name and version in it, and passes no
middleware.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
from typing import cast

from aiohttp import web

from arena import log
from arena.http.call import CONTEXT, WebContext, address_of, is_in
from arena.http.limit import Gate
from arena.http.middleware import PLAIN_HEADERS
from arena.http.problem import Problem

MAX_HEADER_BYTES = 16 * 1024
FIRST_S = 20.0
"""How long the headers of the first request may take, from the moment of the connection."""
IDLE_S = 75.0
"""How long a connection may be silent after an answer, and the next headers take: longer than proxies wait."""
UNREAD_S = 60.0
"""How long what was sent may stay unread, or unconfirmed by a peer that is gone."""
CONNECTIONS = 5000
"""Of all addresses together."""

_logger = log.logger("web")


class Runner(web.AppRunner):
    """Runs an application with the bounds and answers above."""

    def __init__(self, app: web.Application, *, shutdown_timeout: float) -> None:
        super().__init__(
            app,
            handle_signals=False,
            access_log=None,
            shutdown_timeout=shutdown_timeout,
            keepalive_timeout=IDLE_S,
            max_field_size=MAX_HEADER_BYTES,
            max_line_size=MAX_HEADER_BYTES,
        )

    async def _make_server(self) -> web.Server:
        server = await super()._make_server()
        server.__class__ = _Server  # the library offers no way to name one's own
        cast(_Server, server).bound(self.app[CONTEXT])
        return server


class _Server(web.Server):
    """Makes a `_Connection` for each connection, and counts them by address."""

    def bound(self, context: WebContext) -> None:
        """Take so many connections of one address as the settings say; of proxies that are trusted, any number."""
        self._context = context
        self._gate = Gate(context.settings.connections_per_address, CONNECTIONS)
        self._keys: dict[web.RequestHandler, str] = {}

    def __call__(self) -> web.RequestHandler:
        found = super().__call__()
        found.__class__ = _Connection
        return found

    def connection_made(self, handler: web.RequestHandler, transport: asyncio.Transport) -> None:
        """Count it, or cut it where there are too many."""
        super().connection_made(handler, transport)
        _bound_silence(transport)
        peer = transport.get_extra_info("peername")
        key = peer[0] if isinstance(peer, tuple) else ""
        if not key or is_in(key, self._context.trusted):
            return
        key = address_of(key)
        if self._gate.enter(key):
            self._keys[handler] = key
        else:
            _logger.info("too many connections", peer=key)
            transport.abort()

    def connection_lost(self, handler: web.RequestHandler, exc: BaseException | None = None) -> None:
        """Count it no more."""
        if key := self._keys.pop(handler, ""):
            self._gate.leave(key)
        super().connection_lost(handler, exc)


def _bound_silence(transport: asyncio.Transport) -> None:
    """Have the system end a connection whose peer confirms or reads nothing any more."""
    own = transport.get_extra_info("socket")
    if own is not None and own.family in (socket.AF_INET, socket.AF_INET6) and hasattr(socket, "TCP_USER_TIMEOUT"):
        own.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(UNREAD_S * 1000))


class _Connection(web.RequestHandler):
    __slots__ = ()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for the first request for less long than for later ones."""
        super().connection_made(transport)
        if self._keepalive_handle is not None:
            self._keepalive_handle.cancel()
            self._next_keepalive_close_time = self._loop.time() + FIRST_S
            self._keepalive_handle = self._loop.call_at(self._next_keepalive_close_time, self._process_keepalive)

    def handle_error(
        self, request: web.BaseRequest, status: int = 500, exc: BaseException | None = None, message: str | None = None
    ) -> web.StreamResponse:
        """Answer what never reached the application, or what went wrong outside of it, and close the connection."""
        number = secrets.token_hex(6)
        if request.writer.output_size > 0:
            raise ConnectionError("an answer has begun: nothing else can be said")
        if status < 500:
            _logger.info("hardly http", request=number, status=status, reason=type(exc).__name__)
            problem = Problem("bad-request", "this is not HTTP/1.1 as it should be", hint="ask with a usual client")
        else:
            _logger.error("fault", request=number, exc_info=exc)
            problem = Problem("internal", "a fault of this server, which has been noted", request=number)
        response = problem.response()
        response.headers.update(PLAIN_HEADERS)
        response.headers["X-Request-Id"] = number
        response.force_close()
        return response
