"""Whether the process lives, whether it can serve, and what it has counted."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

from aiohttp import web

from arena.data_folder import disk_state
from arena.http.identity import identify
from arena.http.problem import Problem
from arena.http.request_context import CONTEXT, WebContext, client_address, is_in_networks
from arena.metrics import CONTENT_TYPE
from arena.store import StoreError
from referee.sandbox import open_sandbox

routes = web.RouteTableDef()
_NO_STORE = {"Cache-Control": "no-store"}


@routes.get("/healthz")
async def healthz(request: web.Request) -> web.Response:
    """Alive: the event loop turns. Does not ask the database, and is fine without: restarting would not mend it."""
    context = request.app[CONTEXT]
    sandbox = await asyncio.to_thread(open_sandbox, context.settings.sandbox)
    body = {"status": "ok", "sandbox": sandbox.name, "database": await asyncio.to_thread(_state, context)}
    return web.json_response(body, headers=_NO_STORE)


@routes.get("/readyz")
async def readyz(request: web.Request) -> web.Response:
    """Ready: the database answers, has our schema, is not damaged, and the server is not about to end. Else 503.

    Where the disk is full or cannot be written the status is `degraded`, with 200: what is there is served.
    """
    context = request.app[CONTEXT]
    parts = {
        "server": "closing" if context.stopping.is_set() or context.closing.is_set() else "ok",
        "database": "ok",
        "referee": "ok",
        "disk": await asyncio.to_thread(_disk, context),
    }
    try:
        has_referee = await asyncio.wait_for(asyncio.to_thread(_look, context), 5)
        # Pages are served without a referee too: it is told, and does not count.
        parts["referee"] = "ok" if has_referee else "absent"
    except (StoreError, TimeoutError):
        parts["database"] = "unavailable"
    if await asyncio.to_thread(_state, context) == "damaged":
        parts["database"] = "damaged"
    is_ready = parts["server"] == parts["database"] == "ok"
    usual = "ok" if parts["disk"] == "ok" else "degraded"
    body = {"status": usual if is_ready else "unavailable", "parts": parts}
    return web.json_response(body, status=200 if is_ready else 503, headers=_NO_STORE)


def _state(context: WebContext) -> str:
    """Whether the database is known to be damaged."""
    with suppress(StoreError):
        return "damaged" if context.store.health.damage else "ok"
    return "unavailable"


def _disk(context: WebContext) -> str:
    """Whether the data folder, and that of the database, take what is written: `ok`, `full` or `unwritable`."""
    file = context.store.health.file
    folders = {Path(context.settings.data).absolute(), *([file.parent.absolute()] if file else ())}
    return next((state for folder in folders if (state := disk_state(folder)) != "ok"), "ok")


def _look(context: WebContext) -> bool:
    lease = context.store.leases.get("referee")
    return lease is not None and lease.is_alive


@routes.get("/metrics")
async def metrics(request: web.Request) -> web.Response:
    """The counters for Prometheus: with an admin's token, or from where the settings say.

    An address alone, this machine's too, is not believed: it may be that of a proxy.
    """
    context = request.app[CONTEXT]
    if not is_in_networks(client_address(request), context.scrapers):
        identity = await identify(request)
        if identity is None or "admin" not in identity.scopes:
            hint = "send an admin's token; or whoever runs this server sets metrics_from"
            raise Problem("forbidden", "metrics are for admins", hint=hint)
    context.metrics.damaged.set(await asyncio.to_thread(_state, context) == "damaged")
    with suppress(StoreError):  # what the process has counted itself is worth telling just then
        await asyncio.to_thread(_count, context)
    return web.Response(body=context.metrics.text(), headers={"Content-Type": CONTENT_TYPE, **_NO_STORE})


def _count(context: WebContext) -> None:
    store = context.store
    context.metrics.set_database(store.queue.open(), store.tournaments.counts(), has_coordinator=_look(context))
