"""The opening explorer: moves played in a position."""

from __future__ import annotations

from arena import services
from arena.api.registry import FamilyName, Routes
from arena.api.routes.families import checked
from arena.documents.archive import ExplorerQuery, ExplorerResponse
from arena.http.request_context import RequestContext

routes = Routes()


@routes.get(
    "/explorer/{family}",
    tag="archive",
    summary="List the moves played in a position",
    example="/api/v1/explorer/loa?moves=b1b3",
    problems=("invalid",),
)
async def show(call: RequestContext, family: FamilyName, query: ExplorerQuery) -> ExplorerResponse:
    """Return the moves played in a position, up to symmetry, with the results of their games."""
    rules = await call.run(checked, family)
    return await call.run(services.explorer.explore, call.arena, rules.family, query)
