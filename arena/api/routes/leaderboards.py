"""Leaderboards: the ratings of a pool."""

from __future__ import annotations

from arena import services
from arena.api.registry import FamilyName, Routes
from arena.api.routes.families import checked
from arena.documents.query import PageResponse
from arena.documents.rating import Leaderboard, LeaderboardQuery, PoolItem
from arena.http.request_context import RequestContext

routes = Routes()


@routes.get("/leaderboards", tag="leaderboards", summary="List rating pools", example="/api/v1/leaderboards")
async def page(call: RequestContext) -> PageResponse[PoolItem]:
    """List all pools with rated games: a main pool for each family, others for other rules, people and remote bots."""
    return PageResponse(await call.run(services.leaderboard.pools, call.arena))


@routes.get(
    "/leaderboards/{family}",
    tag="leaderboards",
    summary="Get the leaderboard of a family",
    example="/api/v1/leaderboards/loa?limit=10",
)
async def show(call: RequestContext, family: FamilyName, query: LeaderboardQuery) -> Leaderboard:
    """List versions by mu - 3 sigma, by default in the family's main pool. `retired=true` adds retired versions."""
    rules = await call.run(checked, family)
    return await call.run(services.leaderboard.read, call.arena, rules.family, query)
