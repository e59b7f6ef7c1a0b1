"""The opening explorer: moves played in a position."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from arena import services
from arena.api.registry import Routes
from arena.api.routes.families import checked
from arena.api.schemas import FamilyName, In, PoolName, VariantName
from arena.api.schemas.explorer import ExplorerResponse
from arena.http.request_context import RequestContext
from arena.services.explorer import MAX_MOVES_LENGTH, ExplorerRequest

routes = Routes()
_Words = Annotated[str, Field(min_length=1, max_length=200)]
_Day = Annotated[str, Field(pattern=r"^[0-9]{4}(-[0-9]{1,2}(-[0-9]{1,2})?)?$")]


class ExplorerQuery(In):
    """The position: `moves` after `position`, by default the start of the variant.

    Filters of games: a `pool`, a `bot` or one version of it, a collection (`source`; `arena` means played here), days,
    or a minimum `rating` (present mu) of both players.
    """

    variant: VariantName | None = None
    position: Annotated[str, Field(min_length=1, max_length=600)] | None = None
    moves: Annotated[str, Field(max_length=MAX_MOVES_LENGTH)] | None = None
    pool: PoolName | None = None
    rating: Annotated[float, Field(ge=-1000, le=1000)] | None = None
    bot: _Words | None = None
    source: _Words | None = None
    since: _Day | None = None
    until: _Day | None = None


@routes.get(
    "/explorer/{family}",
    tag="archive",
    summary="List the moves played in a position",
    example="/api/v1/explorer/loa?moves=b1b3",
    problems=("invalid",),
)
async def show(call: RequestContext, family: FamilyName, query: ExplorerQuery) -> ExplorerResponse:
    """Return the moves played in a position, up to symmetry, and the results of these games."""
    rules = await call.run(checked, family)
    question = ExplorerRequest(rules.family, **query.model_dump())
    found = await call.run(services.explorer.explore, call.arena, question)
    return ExplorerResponse.model_validate(found)
