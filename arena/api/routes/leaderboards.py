"""Leaderboards: the ratings of a pool."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from arena import services
from arena.api.page import PageQuery
from arena.api.registry import Routes
from arena.api.routes.families import checked
from arena.api.schemas import FamilyName, LeaderboardLine, PoolItem, PoolName
from arena.documents.page import PageResponse
from arena.http.problem import not_found
from arena.http.request_context import RequestContext
from referee.ratings.trueskill import PROVISIONAL_GAMES, PROVISIONAL_SIGMA

routes = Routes()


class LeaderboardQuery(PageQuery):
    """Filters of the ratings of a family."""

    pool: PoolName | None = None
    retired: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaderboard(PageResponse[LeaderboardLine]):
    """The ratings of a pool, best first. A rating is provisional below `needed_games` or above `needed_sigma`.

    `advantage` is the first-move advantage in the pool: `elo`, `error` (95 %) and `is_sure`, true if it differs from
    zero. It is null in an empty pool and in a large one.
    """

    items: list[LeaderboardLine]
    pool: str
    pools: list[str]
    needed_games: int
    needed_sigma: float
    advantage: dict[str, Any] | None


@routes.get("/leaderboards", tag="leaderboards", summary="List rating pools", example="/api/v1/leaderboards")
async def page(call: RequestContext) -> PageResponse[PoolItem]:
    """List every pool with rated games: a family, or a rules class of it whose moves or results differ."""
    pools = await call.run(call.store.ratings.pools)
    return PageResponse(items=[PoolItem(pool=pool, family=pool.split("/")[0], games=games) for pool, games in pools])


@routes.get(
    "/leaderboards/{family}",
    tag="leaderboards",
    summary="Get the leaderboard of a family",
    example="/api/v1/leaderboards/loa?limit=10",
)
async def show(call: RequestContext, family: FamilyName, query: LeaderboardQuery) -> Leaderboard:
    """List versions by mu - 3 sigma. Pass `pool` for another rules class, `retired=true` for retired versions too."""
    rules = await call.run(checked, family)
    sizes = dict(await call.run(call.store.ratings.pools))
    known = list(sizes)
    pools = sorted({rules.family, *(pool for pool in known if pool.split("/")[0] == family)})
    pool = query.pool or family
    if pool not in pools:
        raise not_found("pool", pool, pools)
    rows = await call.run(
        lambda: call.store.ratings.leaderboard(pool, with_retired=query.retired, limit=query.limit, after=query.after)
    )
    found = await call.run(services.ratings.first_move_advantage, call.arena, pool, sizes.get(pool, 0))
    return Leaderboard(
        items=[LeaderboardLine.model_validate(row) for row in rows.items],
        next=rows.next,
        pool=pool,
        pools=pools,
        needed_games=PROVISIONAL_GAMES,
        needed_sigma=PROVISIONAL_SIGMA,
        advantage=asdict(found) if found else None,
    )
