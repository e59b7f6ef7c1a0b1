"""The pages people read. Refuses to know how games are played."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp_jinja2
from aiohttp import web

from arena.api.call import SERVICES
from arena.api.problem import not_found
from referee.games import families, load
from referee.ratings import PROVISIONAL_GAMES, PROVISIONAL_SIGMA
from referee.standings import crosstable

CROSSTABLE_BOTS, CROSSTABLE_GAMES = 100, 5000
"""What the crosstable of a leaderboard takes in: the best bots, the latest games."""
routes = web.RouteTableDef()


def _family(request: web.Request) -> str:
    family = request.match_info["family"]
    if family not in families():
        raise not_found("family", family, families())
    return family


@routes.get("/")
@aiohttp_jinja2.template("home.html")
async def home(request: web.Request) -> dict[str, Any]:
    """The families with their best bots."""
    store = request.app[SERVICES].store

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
    store, family = request.app[SERVICES].store, _family(request)
    pools = [name for name, _ in await asyncio.to_thread(store.ratings.pools) if name.split("/")[0] == family] or [
        family
    ]
    pool = request.query.get("pool", pools[0])
    if pool not in pools:
        raise not_found("pool", pool, pools)

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
