"""Compare the ratings of several bots in one plot. The address holds the selection, so that it can be shared."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from arena import services
from arena.pages import rating_plot
from arena.pages.html_table import choice
from arena.pages.page import allow_parameters, arena_of, path_family, render, run

routes = web.RouteTableDef()


@routes.get("/{family}/compare")
@allow_parameters("pool", "bot", "by")
async def show(request: web.Request) -> web.Response:
    """Plot the bots of `?bot=`, which may be repeated; by default the three best of the pool."""
    rules, query = path_family(request), request.query
    by = choice(query, "by", ("date", "game"), "date")
    pool = query.get("pool") or rules.family
    names = query.getall("bot", [])

    def read() -> dict[str, Any]:
        found = services.leaderboard.compare(arena_of(request), rules.family, pool, names)
        curves = {name: one.changes for name, one in found.curves.items()}
        return {"found": found, "drawing": rating_plot.comparison_plot(pool, curves, by)}

    most = services.leaderboard.MAX_COMPARED
    return render(request, "compare.html", rules=rules, by=by, most=most, **await run(read))
