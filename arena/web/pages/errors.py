"""Forfeits and voids of late, with their evidence: fairness one can see."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from arena.web.table import choice
from arena.web.view import page, run, store_of
from referee.games import families

routes = web.RouteTableDef()


@routes.get("/errors")
async def show(request: web.Request) -> web.Response:
    """Forfeits, latest first, of all families or one; then voids."""
    family = choice(request.query, "family", families())
    store = store_of(request)

    def read() -> dict[str, Any]:
        return {
            "forfeits": store.games.latest(
                kind="forfeit", family=family or None, limit=50, after=request.query.get("after") or None
            ),
            "voids": store.games.voids(limit=50, after=request.query.get("voids") or None),
        }

    return page(request, "errors.html", family=family, **await run(read))
