"""The workers page: coordinator lease, workers, queue, quarantined workers."""

from __future__ import annotations

import platform

from aiohttp import web

from arena import services
from arena.http.api_paths import VERSION
from arena.http.identity import session_of
from arena.http.request_context import CONTEXT
from arena.pages.columns import text_column
from arena.pages.html_table import Column, sorted_table
from arena.pages.page import allow_parameters, arena_of, redirect_permanently, render, run
from referee.machine import source
from referee.sandbox import open_sandbox

routes = web.RouteTableDef()
_WORKERS = (
    text_column("name", "Worker"),
    Column("slots", "Slots"),
    Column("busy", "Playing"),
    Column("idle", "Idle"),
    text_column("", "Load"),
    Column("speed", "Speed"),
    text_column("sandbox", "Sandbox"),
    text_column("state", "State"),
)


def _sandbox(name: str) -> str:
    """Return the sandbox level of this machine, or the reason why none works."""
    try:
        return open_sandbox(name).name
    except ValueError as error:
        return str(error)


@routes.get("/referees")
async def redirect_old_page(request: web.Request) -> web.Response:
    """Redirect the former address of this page."""
    return redirect_permanently(str(request.rel_url.with_path("/workers", keep_query=True)))


@routes.get("/workers")
@allow_parameters("workers")
async def show(request: web.Request) -> web.Response:
    """Show the lease, the workers, running games and the queue."""
    arena, live, identity = arena_of(request), request.app[CONTEXT].live, await session_of(request)
    status, sandbox = await run(lambda: (services.status.read(arena, identity), _sandbox(arena.settings.sandbox)))
    workers = services.status.workers(arena, live, identity)
    return render(
        request,
        "workers.html",
        keep="no-store",
        version=VERSION,
        python=platform.python_version(),
        rules=source.digest(),
        sandbox=sandbox,
        settings=arena.settings,
        service=status,
        coordinator=status.coordinator,
        counts=status.coordinator.games,
        running=status.running,
        report=live.workers,
        workers=sorted_table(request, _WORKERS, workers, parameter="workers") if workers is not None else None,
        slots=sum(one.slots for one in workers or () if one.is_fit),
        busy=sum(one.busy for one in workers or () if one.is_fit),
    )
