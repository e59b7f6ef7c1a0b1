"""Endpoints for operators: liveness, readiness, Prometheus metrics."""

from __future__ import annotations

import asyncio

from aiohttp import web

from arena.errors import StorageError, StoreError
from arena.http.identity import identify
from arena.http.problem import Problem
from arena.http.request_context import CONTEXT, WebContext, client_address, is_in_networks
from arena.metrics import CONTENT_TYPE
from arena.services import status
from referee.sandbox import open_sandbox

routes = web.RouteTableDef()
_NO_STORE = {"Cache-Control": "no-store"}
_READ_ONLY, _LOCKED = "read-only", "locked"
WRITE_TIMEOUT_S = 3.0
"""How long the database may take to begin a write."""
LATE_S = 10.0
"""How long a result waits for its commit in a service that works."""


@routes.get("/healthz")
async def healthz(request: web.Request) -> web.Response:
    """Report that the event loop runs. The database does not affect the status: a restart would not repair it."""
    context = request.app[CONTEXT]
    sandbox = await asyncio.to_thread(open_sandbox, context.settings.sandbox)
    body = {
        "status": "ok",
        "sandbox": sandbox.name,
        "database": await asyncio.to_thread(status.database, context.arena),
    }
    return web.json_response(body, headers=_NO_STORE)


@routes.get("/readyz")
async def readyz(request: web.Request) -> web.Response:
    """Report readiness: 200 if the database answers, has our schema and is intact, and the server is not shutting down.

    Otherwise 503. If the disk or the database cannot be written, or a result has waited for its commit longer than
    `LATE_S`, the status is `degraded` and the code 200: reading still works.
    """
    context = request.app[CONTEXT]
    backlog = await asyncio.to_thread(context.arena.spool.backlog)
    parts = {
        "server": "closing" if context.stopping.is_set() or context.closing.is_set() else "ok",
        "database": "ok",
        "referee": "ok",
        "disk": await asyncio.to_thread(status.disk, context.arena),
        "results": "waiting" if backlog.age_s > LATE_S else "ok",
    }
    try:
        has_coordinator = await asyncio.wait_for(asyncio.to_thread(status.has_coordinator, context.arena), 5)
        # Pages are served without a coordinator too: report it, but stay ready.
        parts["referee"] = "ok" if has_coordinator else "absent"
        parts["database"] = await _writability(context)
    except (StoreError, TimeoutError):
        parts["database"] = "unavailable"
    if await asyncio.to_thread(status.database, context.arena) == "damaged":
        parts["database"] = "damaged"
    is_ready = parts["server"] == "ok" and parts["database"] in ("ok", _READ_ONLY, _LOCKED)
    usual = "ok" if parts["disk"] == parts["database"] == parts["results"] == "ok" else "degraded"
    body = {
        "status": usual if is_ready else "unavailable",
        "parts": parts,
        "results_waiting": backlog.count,
        "results_waiting_since": backlog.since.isoformat() if backlog.since else None,
    }
    return web.json_response(body, status=200 if is_ready else 503, headers=_NO_STORE)


async def _writability(context: WebContext) -> str:
    """Return whether the database accepts writes: `ok`, `read-only`, or `locked` if no write can begin in time."""
    try:
        await asyncio.wait_for(asyncio.to_thread(status.require_writable, context.arena), WRITE_TIMEOUT_S)
    except StorageError:
        return _READ_ONLY
    except (StoreError, TimeoutError):
        return _LOCKED
    return "ok"


@routes.get("/metrics")
async def metrics(request: web.Request) -> web.Response:
    """Return the Prometheus metrics to admins and to the networks in `metrics_from`.

    Other clients on this machine are refused too, because such a client may be a proxy.
    """
    context = request.app[CONTEXT]
    if not is_in_networks(client_address(request), context.scrapers):
        identity = await identify(request)
        if identity is None or "admin" not in identity.scopes:
            hint = "send an admin's token, or have the operator set `metrics_from`"
            raise Problem("forbidden", "metrics are for admins", hint=hint)
    await asyncio.to_thread(status.measure, context.arena, context.metrics)
    return web.Response(body=context.metrics.text(), headers={"Content-Type": CONTENT_TYPE, **_NO_STORE})
