"""Outermost middleware: request number, log line, metrics, security headers, CORS, and exceptions as responses.

Under `/api` an error becomes a problem document, elsewhere the pages render it. No error shows a traceback.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Awaitable, Callable

import structlog
from aiohttp import web
from aiohttp.typedefs import Middleware

from arena import log
from arena.errors import DamagedDatabaseError, StorageError, storage_problem
from arena.http.problem import Problem, from_http
from arena.http.request_context import CONTEXT, WebContext, address_cost, charge
from referee.errors import ArenaError, did_you_mean, near
from referee.rules.core import ParseError, UnknownNameError

Next = Callable[[web.Request], Awaitable[web.StreamResponse]]
ErrorPage = Callable[[web.Request, Problem], web.Response]

_PAGE_POLICY = "default-src 'self'; object-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
_DATA_POLICY = "default-src 'none'; frame-ancestors 'none'"
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    # The address of a page may be a secret, such as the link that resets a password.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), interest-cohort=()",
}
PLAIN_HEADERS = {**_HEADERS, "Content-Security-Policy": _DATA_POLICY, "Server": "arena"}
"""Headers of every data response, also of one that bypasses the middleware."""
_EXPOSED = "ETag, Link, Location, Retry-After, Content-Disposition, X-Request-Id"
_MAX_TARGET = 8_000
_UNCOUNTED = ("/healthz", "/readyz", "/metrics")
"""Monitoring endpoints without a rate limit; for the JSON interface see `arena.api.handle`."""

_HUNG_UP = Problem("bad-request", "the client closed the connection before its request was complete")
"""Never sent, but logged and counted."""

_logger = log.logger("web")


def is_data(request: web.BaseRequest) -> bool:
    """Return whether the address serves programs rather than people."""
    return _is_api(request) or request.path.endswith(".json")


def _is_api(request: web.BaseRequest) -> bool:
    return request.path.startswith("/api/") or request.path == "/api"


def middleware(page: ErrorPage) -> Middleware:
    """Return the outermost middleware; `page` renders errors for browsers and for the scripts of pages."""

    @web.middleware
    async def handle(request: web.Request, handler: Next) -> web.StreamResponse:
        context = request.app[CONTEXT]
        number = secrets.token_hex(6)
        begin = time.monotonic()
        with structlog.contextvars.bound_contextvars(request=number):
            response = await _respond(request, handler, page, number)
            if not response.prepared:
                _add_headers(request, response, context, number)
            _record(request, response, context, time.monotonic() - begin)
        return response

    return handle


async def _respond(request: web.Request, handler: Next, page: ErrorPage, number: str) -> web.StreamResponse:
    try:
        if len(request.raw_path) > _MAX_TARGET:
            raise Problem("too-long", f"the address has {len(request.raw_path):,} bytes", limit=_MAX_TARGET)
        if request.method == "OPTIONS" and is_data(request) and "Access-Control-Request-Method" in request.headers:
            return _preflight()
        if not request.path.startswith("/api") and request.path not in _UNCOUNTED:
            await charge(request, address_cost(request))
        return await handler(request)
    except web.HTTPException as error:
        if error.status < 400:  # a redirect, raised for convenience
            return web.Response(status=error.status, headers=_without_type(error))
        if error.status == 500:  # a library's answer to a fault, such as a template that is missing
            problem = _fault(error, number)
        else:
            problem = _missing(request) if error.status == 404 else from_http(error)
    except Exception as error:
        problem = _HUNG_UP if isinstance(error, ConnectionError) and _is_gone(request) else problem_of(error, number)
    if _is_api(request):
        return problem.response()
    try:
        return page(request, problem)
    except Exception as error:  # rendering the error page failed: send plain text
        _logger.error("fault", exc_info=error)
        return web.Response(status=problem.status, text=f"{problem.detail}\n", headers=problem.headers)


def _is_gone(request: web.Request) -> bool:
    """Return whether the client has closed the connection: a failed read is then no fault of the server."""
    return request.transport is None or request.transport.is_closing()


def _without_type(error: web.HTTPException) -> dict[str, str]:
    """Return the headers of an aiohttp error without those that describe its default body."""
    return {name: value for name, value in error.headers.items() if name not in ("Content-Type", "Content-Length")}


def problem_of(error: Exception, number: str) -> Problem:  # noqa: PLR0911 - one return per kind of error
    """Return the problem of an exception. A bug is logged with its traceback and reported without it."""
    match error:
        case Problem():
            return error
        case DamagedDatabaseError():  # logged on detection
            return Problem("unavailable", "the database is damaged: restore a backup", hint=error.hint)
        case StorageError():
            return _storage(error, str(error))
        case ArenaError(kind="unavailable"):
            _logger.error("unavailable", reason=str(error))
            hint = "try again in a few seconds"
            return Problem("unavailable", "the database is unavailable", hint=hint, headers={"Retry-After": "5"})
        case ArenaError():
            return Problem.of(error)
        case UnknownNameError():
            return Problem("invalid", str(error), near=list(error.near))
        case ParseError():
            return Problem("invalid", str(error), hint=error.hint)
        case OSError() if problem := storage_problem(error):
            return _storage(error, f"{problem}: nothing was stored")
        case web.RequestPayloadError():
            return Problem("bad-request", "the body ended early, or its encoding does not match its headers")
    return _fault(error, number)


def _fault(error: Exception, number: str) -> Problem:
    """Log a bug, and return its problem."""
    _logger.error("fault", exc_info=error)
    return Problem("internal", "internal error; it has been logged", request=number)


def _storage(error: Exception, detail: str) -> Problem:
    """Return the problem of a full or unwritable disk. Only the log names the file."""
    _logger.error("disk full or not writable", reason=str(error.__cause__ or error), error=detail)
    return Problem("storage", detail, hint=StorageError(detail).hint, headers={"Retry-After": "60"})


def _missing(request: web.Request) -> Problem:
    """Return the 404 of an unknown address, with the nearest known ones."""
    known = {
        resource.canonical
        for resource in request.app.router.resources()
        if resource.canonical.startswith("/api/") == request.path.startswith("/api/")
    }
    similar = near(request.path, known)
    return Problem("not-found", "no page or route has this address", hint=did_you_mean(similar), near=similar)


def _preflight() -> web.Response:
    return web.Response(
        status=204,
        headers={
            # Pages of other sites may read with a token, but neither write nor use cookies: Allow-Credentials is
            # absent.
            "Access-Control-Allow-Methods": "GET, HEAD, OPTIONS",
            "Access-Control-Allow-Headers": "Authorization, If-None-Match, Last-Event-ID",
            "Access-Control-Max-Age": "86400",
        },
    )


def _add_headers(request: web.Request, response: web.StreamResponse, context: WebContext, number: str) -> None:
    headers = response.headers
    for name, value in _HEADERS.items():
        headers.setdefault(name, value)
    is_page = (response.content_type or "").startswith(("text/html", "text/css", "image/"))
    headers.setdefault("Content-Security-Policy", _PAGE_POLICY if is_page else _DATA_POLICY)
    headers["X-Request-Id"] = number
    headers["Server"] = "arena"
    if context.is_https:
        headers.setdefault("Strict-Transport-Security", "max-age=31536000")
    if is_data(request) and request.method in ("GET", "HEAD", "OPTIONS"):
        headers["Access-Control-Allow-Origin"] = "*"
        headers["Access-Control-Expose-Headers"] = _EXPOSED


async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
    """Add the middleware's headers to a stream, which starts before its response reaches the middleware.

    Handler of aiohttp's signal `on_response_prepare`.
    """
    if "X-Request-Id" not in response.headers:
        number = str(structlog.contextvars.get_contextvars().get("request", ""))
        _add_headers(request, response, request.app[CONTEXT], number)


def _record(request: web.Request, response: web.StreamResponse, context: WebContext, seconds: float) -> None:
    resource = request.match_info.route.resource
    route = resource.canonical if resource else "-"
    is_stream = not isinstance(response, web.Response)
    context.metrics.observe(route, request.method[:10], response.status, seconds, is_stream=is_stream)
    _logger.info(
        "request",
        method=request.method[:10],
        path=request.path[:200],
        status=response.status,
        ms=round(seconds * 1000, 1),
    )
