"""Who referees: the process that plays and records, its workers, and what waits."""

from __future__ import annotations

import platform
from collections import Counter
from typing import Any

from aiohttp import web

from arena.api.call import SERVICES
from arena.api.routes.house import VERSION
from arena.models import now
from arena.web import lists
from arena.web.view import page, run, store_of
from referee.sandbox import open_sandbox

routes = web.RouteTableDef()


@routes.get("/referees")
async def show(request: web.Request) -> web.Response:
    """The referee's lease, its workers by what they play, the queue."""
    store = store_of(request)

    def read() -> dict[str, Any]:
        running = store.games.in_state("running", 500)
        queued = store.games.in_state("queued", 500)
        return {
            "lease": store.house.lease("referee"),
            "counts": store.games.open(),
            "running": running,
            "workers": sorted(Counter(game.worker for game in running).items()),
            "queued": Counter(game.worker for game in queued),
            "states": store.tournaments.counts(),
            "sandbox": open_sandbox(request.app[SERVICES].settings.sandbox).name,
        }

    found = await run(read)
    table = lists.games(request, found["running"][:100], with_family=True)
    settings = request.app[SERVICES].settings
    return page(
        request,
        "referees.html",
        keep="no-store",
        version=VERSION,
        python=platform.python_version(),
        settings=settings,
        at=now(),
        table=table,
        **found,
    )
