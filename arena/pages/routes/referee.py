"""The workers page: coordinator lease, workers, queue, quarantined workers."""

from __future__ import annotations

import platform
import time
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from aiohttp import web

from arena.clock import now
from arena.events.messages import CoordinatorWorkers
from arena.http.api_paths import VERSION
from arena.http.identity import session_of
from arena.http.request_context import CONTEXT
from arena.pages import columns
from arena.pages.columns import text_column
from arena.pages.html_table import Column, sorted_table
from arena.pages.page import allow_parameters, redirect_permanently, render, run, store_of
from arena.services.access import may_read_hosts, shown_owner
from arena.store.base.models import Audit
from arena.store.people.audit import QUARANTINED, THROTTLED, VERIFIED
from referee.machine import source
from referee.sandbox import open_sandbox

routes = web.RouteTableDef()
FRESH_S = 30.0
"""Age after which the latest worker status no longer counts."""
SHOWN = timedelta(days=7)
"""Time for which quarantined workers are listed."""
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


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """One worker, by its latest status."""

    name: str
    slots: int
    busy: int
    sandbox: str
    version: str
    is_fit: bool
    problem: str = ""
    speed: int = 0
    """Perft speed of a slot, in leaves per second; 0 if unknown."""

    @property
    def idle(self) -> int:
        """Slots without a game."""
        return max(0, self.slots - self.busy)

    @property
    def state(self) -> str:
        """`refused`, `playing` or `idle`."""
        return "refused" if not self.is_fit else "playing" if self.busy else "idle"


def workers_of(status: CoordinatorWorkers | None, at: float) -> list[WorkerRow] | None:
    """Return the workers; None without a recent status."""
    if status is None or time.time() - at > FRESH_S:
        return None
    return [
        WorkerRow(
            one.name[:200], one.slots, one.busy, one.sandbox[:60], one.version[:60], one.is_fit, one.problem, one.speed
        )
        for one in status.workers
    ]


@dataclass(frozen=True, slots=True)
class QuarantinedWorker:
    """A quarantined worker, and what happened to its results."""

    line: Audit
    results: str

    @property
    def name(self) -> str:
        """The id of the worker process."""
        return str(self.line.detail["worker"])


def quarantined_workers(lines: list[Audit]) -> list[QuarantinedWorker]:
    """Return the quarantined workers from the audit log, latest first."""
    found, verified = [], set()
    for line in lines:
        if line.action == VERIFIED:
            verified.add(line.subject)
        elif line.action == THROTTLED:
            found.append(QuarantinedWorker(line, "kept: both bots of each game were equally slow"))
        else:
            is_done = line.subject in verified
            found.append(QuarantinedWorker(line, "verified; wrong ones are replayed" if is_done else "being verified"))
    return found


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
@allow_parameters("workers", "games")
async def show(request: web.Request) -> web.Response:
    """Show the lease, the workers, running games and the queue."""
    store = store_of(request)

    def read() -> dict[str, Any]:
        running = store.games.in_state("running", 500)
        return {
            "lease": store.leases.get("referee"),
            "counts": store.queue.open(),
            "running": running,
            "rules": source.digest(),
            "states": store.tournaments.counts(),
            "quarantined": quarantined_workers(store.audit.since(now() - SHOWN, QUARANTINED, THROTTLED, VERIFIED)),
            "sandbox": _sandbox(request.app[CONTEXT].settings.sandbox),
        }

    found = await run(read)
    table = columns.sort_games(request, found["running"][:100], with_family=True)
    settings = request.app[CONTEXT].settings
    live = request.app[CONTEXT].live
    identity = await session_of(request)
    workers = workers_of(live.workers, live.workers_at)
    may_read = may_read_hosts(settings, identity)
    if workers and not may_read:
        workers = [replace(one, name=f"worker {number}") for number, one in enumerate(workers, 1)]
    lease = found["lease"]
    return render(
        request,
        "workers.html",
        keep="no-store",
        version=VERSION,
        python=platform.python_version(),
        settings=settings,
        owner=shown_owner(settings, identity, lease.owner) if lease else "",
        table=table,
        report=live.workers,
        may_read=may_read,
        workers=sorted_table(request, _WORKERS, workers, parameter="workers") if workers is not None else None,
        slots=sum(one.slots for one in workers or () if one.is_fit),
        busy=sum(one.busy for one in workers or () if one.is_fit),
        **found,
    )
