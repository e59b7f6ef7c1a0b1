"""How the application meets the wire: bounds of headers, and an answer in our form to what is hardly HTTP.

The library's own answer to a request it cannot parse is plain text with its name and version in it, and passes no
middleware.
"""

from __future__ import annotations

import secrets

from aiohttp import web

from arena import log
from arena.http.middleware import PLAIN_HEADERS
from arena.http.problem import Problem

MAX_HEADER_BYTES = 16 * 1024

_logger = log.logger("web")


class Runner(web.AppRunner):
    """Runs an application with the bounds and answers above."""

    def __init__(self, app: web.Application, *, shutdown_timeout: float) -> None:
        super().__init__(
            app,
            handle_signals=False,
            access_log=None,
            shutdown_timeout=shutdown_timeout,
            max_field_size=MAX_HEADER_BYTES,
            max_line_size=MAX_HEADER_BYTES,
        )

    async def _make_server(self) -> web.Server:
        server = await super()._make_server()
        server.__class__ = _Server  # the library offers no way to name one's own
        return server


class _Server(web.Server):
    """Makes a `_Connection` for each connection."""

    def __call__(self) -> web.RequestHandler:
        found = super().__call__()
        found.__class__ = _Connection
        return found


class _Connection(web.RequestHandler):
    __slots__ = ()

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
