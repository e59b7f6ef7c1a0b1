"""The web application: routes to pages, read from the store. Refuses to know how games are played."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import aiohttp_jinja2
import jinja2
from aiohttp import web

from arena.store import Store
from referee.games import families, load
from referee.ratings import PROVISIONAL_GAMES, PROVISIONAL_SIGMA
from referee.standings import crosstable

STORE: web.AppKey[Store] = web.AppKey("store", Store)
CROSSTABLE_BOTS, CROSSTABLE_GAMES = 100, 5000
"""What the crosstable of a leaderboard takes in: the best bots, the latest games."""
_HERE = Path(__file__).parent
_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
}
routes = web.RouteTableDef()


@web.middleware
async def secure(request: web.Request, handler: Any) -> web.StreamResponse:
    """Put the security headers on every answer."""
    try:
        response: web.StreamResponse = await handler(request)
    except web.HTTPException as error:
        error.headers.update(_HEADERS)
        raise
    response.headers.update(_HEADERS)
    return response


def _family(request: web.Request) -> str:
    family = request.match_info["family"]
    if family not in families():
        raise web.HTTPNotFound(text=f"no family {family!r}; there are {', '.join(families())}\n")
    return family


@routes.get("/")
@aiohttp_jinja2.template("home.html")
async def home(request: web.Request) -> dict[str, Any]:
    """The families with their best bots."""
    store = request.app[STORE]

    def read() -> list[dict[str, Any]]:
        counts = dict(store.ratings.pools())
        return [
            {
                "name": name,
                "rules": load(name),
                "games": counts.get(name, 0),
                "top": store.ratings.leaderboard(name, limit=5).items,
            }
            for name in families()
        ]

    return {"families": await asyncio.to_thread(read)}


@routes.get("/{family}/leaderboard")
@aiohttp_jinja2.template("leaderboard.html")
async def leaderboard(request: web.Request) -> dict[str, Any]:
    """A family's ratings, crosstable and latest games; `?pool=` chooses another rules class."""
    store, family = request.app[STORE], _family(request)
    pools = [name for name, _ in await asyncio.to_thread(store.ratings.pools) if name.split("/")[0] == family] or [
        family
    ]
    pool = request.query.get("pool", pools[0])
    if pool not in pools:
        raise web.HTTPNotFound(text=f"no pool {pool!r}; there are {', '.join(pools)}\n")

    def read() -> dict[str, Any]:
        lines = store.ratings.leaderboard(pool, limit=CROSSTABLE_BOTS).items
        names = [line.name for line in lines]
        results = [
            result
            for result in store.games.results(pool=pool, limit=CROSSTABLE_GAMES)
            if result.first in names and result.second in names
        ]
        return {
            "lines": lines,
            "table": crosstable(results, names),
            "recent": store.games.latest(family=family, limit=20).items,
        }

    return {
        "rules": load(family),
        "pool": pool,
        "pools": pools,
        **await asyncio.to_thread(read),
        "needed_games": PROVISIONAL_GAMES,
        "needed_sigma": PROVISIONAL_SIGMA,
    }


@routes.get("/healthz")
async def healthz(request: web.Request) -> web.Response:
    """Alive."""
    return web.json_response({"status": "ok"})


def build(store: Store) -> web.Application:
    """The application over a store."""
    app = web.Application(middlewares=[secure])
    app[STORE] = store
    app.add_routes(routes)
    app.router.add_static("/static", _HERE / "static")
    aiohttp_jinja2.setup(app, loader=jinja2.FileSystemLoader(_HERE / "templates"), autoescape=True)
    return app
