"""Endpoints for operators: liveness, readiness, Prometheus metrics."""

from __future__ import annotations

import asyncio
from collections.abc import Collection

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


@routes.get("/healthz")
async def healthz(request: web.Request) -> web.Response:
    """Report that the event loop runs. The database does not affect the status: a restart would not repair it."""
    context = request.app[CONTEXT]
    body = await asyncio.get_running_loop().run_in_executor(context.probes, _liveness, context)
    return web.json_response(body, headers=_NO_STORE)


def _liveness(context: WebContext) -> dict[str, str]:
    sandbox = open_sandbox(context.settings.sandbox)
    return {"status": "ok", "sandbox": sandbox.name, "database": status.database(context.arena)}


@routes.get("/readyz")
async def readyz(request: web.Request) -> web.Response:
    """Report readiness: 200 if the database answers, has our schema and is intact, and the server is not shutting down.

    Otherwise 503. Other parts that are not `ok` are listed in `degraded`: reading still works, so the code is 200, and
    503 only if the query `require` names such a part: `?require=referee,disk`, or `?require=all`.
    """
    context = request.app[CONTEXT]
    backlog = await asyncio.to_thread(context.arena.spool.backlog)
    parts = {
        "server": "closing" if context.stopping.is_set() or context.closing.is_set() else "ok",
        "database": "ok",
        "referee": "unknown",
        "disk": await asyncio.to_thread(status.disk, context.arena),
        "referee_disk": "unknown",
        "results": "waiting" if backlog.is_late else "ok",
    }
    try:
        has_coordinator = await asyncio.wait_for(asyncio.to_thread(status.has_coordinator, context.arena), 5)
        parts["referee"] = "ok" if has_coordinator else "absent"
        if has_coordinator:
            parts["referee_disk"] = status.coordinator_disk(context.live)
        parts["database"] = await _writability(context)
    except (StoreError, TimeoutError):
        parts["database"] = "unavailable"
    if await asyncio.to_thread(status.database, context.arena) == "damaged":
        parts["database"] = "damaged"
    is_ready = parts["server"] == "ok" and parts["database"] in ("ok", _READ_ONLY, _LOCKED)
    degraded = [name for name, state in parts.items() if state not in ("ok", "unknown")]
    required = _required(request, parts)
    body = {
        "status": "unavailable" if not is_ready else "degraded" if degraded else "ok",
        "degraded": degraded,
        "parts": parts,
        "results_waiting": backlog.count,
        "results_waiting_since": backlog.since.isoformat() if backlog.since else None,
    }
    is_enough = is_ready and required.isdisjoint(degraded)
    return web.json_response(body, status=200 if is_enough else 503, headers=_NO_STORE)


def _required(request: web.Request, parts: Collection[str]) -> set[str]:
    """Return the parts that the caller requires to be `ok`. Raises Problem for an unknown one."""
    names = {name for name in request.query.get("require", "").split(",") if name}
    if unknown := names - {"all", *parts}:
        known = ", ".join(parts)
        raise Problem("invalid", f"no part {min(unknown)[:40]!r}", field="require", hint=f"choose from all, {known}")
    return set(parts) if "all" in names else names


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
