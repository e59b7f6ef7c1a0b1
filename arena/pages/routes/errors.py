"""Recent forfeits and void games with their evidence, so that anyone can check decisions."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from arena import services
from arena.documents.game import GameItem, GameQuery
from arena.documents.page import PageQuery, PageResponse
from arena.documents.service import VoidItem
from arena.http.identity import session_of
from arena.pages.columns import text_column
from arena.pages.html_table import Column, choice, sorted_table
from arena.pages.page import allow_parameters, arena_of, render, run
from referee.rules import families

routes = web.RouteTableDef()
_FORFEITS = (
    text_column("", "Game"),
    text_column("guilty", "At fault"),
    text_column("opponent", "Opponent"),
    text_column("termination", "Why"),
    Column("plies", "At ply"),
    text_column("detail", "Evidence"),
    text_column("", "Log"),
    Column("finished_at", "When"),
)
_VOIDS = (
    text_column("", "Game"),
    text_column("first", "First"),
    text_column("second", "Second"),
    Column("attempt", "Attempt"),
    text_column("termination", "Why"),
    text_column("detail", "Evidence"),
    text_column("lease_owner", "Lease owner"),
    Column("voided_at", "When"),
)


@routes.get("/errors")
@allow_parameters("family", "after", "voids", "sort", "order")
async def show(request: web.Request) -> web.Response:
    """List forfeits, latest first, of all families or one; then void games."""
    family = choice(request.query, "family", families())
    arena, identity = arena_of(request), await session_of(request)
    query = GameQuery(errors=True, family=family or None, after=request.query.get("after") or None)

    def read() -> tuple[PageResponse[GameItem], PageResponse[VoidItem]]:
        return (
            services.game.search(arena, query),
            services.game.voids(arena, identity, PageQuery(after=request.query.get("voids") or None)),
        )

    forfeits, voids = await run(read)
    return render(
        request,
        "errors.html",
        family=family,
        forfeits=forfeits,
        voids=voids,
        guilty=sorted_table(request, _FORFEITS, forfeits.items, value=_value),
        attempts=sorted_table(request, _VOIDS, voids.items, parameter="order"),
    )


def _value(line: GameItem, key: str) -> Any:
    is_first = line.winner == "second"
    if key == "guilty":
        return line.first if is_first else line.second
    return (line.second if is_first else line.first) if key == "opponent" else getattr(line, key)
