"""The page of the workers: coordinator lease, workers, queue, quarantined workers."""

from __future__ import annotations

import platform

from aiohttp import web

from arena import services
from arena.documents.table import Column, text_column
from arena.events.payload import WorkerPayload
from arena.http.identity import session_of
from arena.http.request_context import CONTEXT
from arena.pages.html_table import HtmlTable, sorted_table
from arena.pages.page import allow_parameters, arena_of, render, run
from arena.services.status import QuarantinedWorker
from referee.machine import source
from referee.sandbox import open_sandbox

routes = web.RouteTableDef()

_WORKERS: tuple[Column[WorkerPayload], ...] = (
    text_column("name", "Worker", lambda worker: worker.name, "worker", is_heading=True),
    Column("slots", "Slots", lambda worker: worker.slots),
    Column("busy", "Playing", lambda worker: worker.busy),
    Column("idle", "Idle", lambda worker: worker.idle),
    text_column("load", "Load", lambda worker: worker.busy, "load", is_sortable=False),
    Column(
        "speed",
        "Speed",
        lambda worker: worker.speed / 1e6 if worker.speed else None,
        "strength",
        order=lambda worker: worker.speed,
    ),
    text_column("sandbox", "Sandbox", lambda worker: worker.sandbox or None, order=lambda worker: worker.sandbox),
    text_column("state", "State", lambda worker: worker.state, "worker_state"),
)
_QUARANTINED: tuple[Column[QuarantinedWorker], ...] = (
    text_column("name", "Worker", lambda worker: worker.name, "name", is_heading=True),
    text_column("quarantined_at", "When", lambda worker: worker.quarantined_at),
    text_column("problem", "Reason", lambda worker: worker.problem, "word"),
    text_column("results", "Results", lambda worker: worker.results),
)


def _sandbox(name: str) -> str:
    """Return the sandbox level of this machine, or the reason why none works."""
    try:
        return open_sandbox(name).name
    except ValueError as error:
        return str(error)


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
        release=source.release(),
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
        quarantined=HtmlTable(_QUARANTINED, status.quarantined),
        slots=sum(worker.slots for worker in workers or () if worker.is_fit),
        busy=sum(worker.busy for worker in workers or () if worker.is_fit),
    )
