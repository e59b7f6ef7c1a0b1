"""The explorer: what was played in a position."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from arena import services
from arena.api.registry import Routes
from arena.api.routes.families import checked
from arena.api.schemas import FamilyName, In, PoolName, VariantName
from arena.api.schemas.explorer import ExplorerDocument
from arena.http.request_context import RequestContext
from arena.services.explorer import MOST_WORDS, Question

routes = Routes()
_Words = Annotated[str, Field(min_length=1, max_length=200)]
_Day = Annotated[str, Field(pattern=r"^[0-9]{4}(-[0-9]{1,2}(-[0-9]{1,2})?)?$")]


class ExplorerQuery(In):
    """Which position, the start without one, `moves` from there; and which games: of a `pool`, of a `bot` or one
    version of it, of a collection (`source`; `arena`: played here), of days, or where both players have at least a
    `rating` (mu, today).
    """

    variant: VariantName | None = None
    position: Annotated[str, Field(min_length=1, max_length=600)] | None = None
    moves: Annotated[str, Field(max_length=MOST_WORDS)] | None = None
    pool: PoolName | None = None
    rating: Annotated[float, Field(ge=-1000, le=1000)] | None = None
    bot: _Words | None = None
    source: _Words | None = None
    since: _Day | None = None
    until: _Day | None = None


@routes.get(
    "/explorer/{family}",
    tag="archive",
    summary="What was played in a position",
    example="/api/v1/explorer/loa?moves=b1b3",
    problems=("invalid",),
)
async def show(call: RequestContext, family: FamilyName, query: ExplorerQuery) -> ExplorerDocument:
    """The moves that were played in a position, however the board was turned, and how these games went."""
    rules = await call.run(checked, family)
    question = Question(rules.family, **query.model_dump())
    found = await call.run(services.explorer.explore, call.arena, question)
    return ExplorerDocument.model_validate(found)
