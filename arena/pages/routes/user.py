"""The public page of a user: bots and organised tournaments."""

from __future__ import annotations

from aiohttp import web

from arena import services
from arena.pages.columns import text_column
from arena.pages.html_table import Column, sorted_table
from arena.pages.page import allow_parameters, arena_of, render, run

routes = web.RouteTableDef()
_BOTS = (
    text_column("name", "Bot"),
    text_column("", "Plays"),
    Column("versions", "Versions"),
    text_column("newest_state", "Newest"),
    Column("created_at", "Since"),
)


@routes.get("/users/{user}")
@allow_parameters("sort")
async def show(request: web.Request) -> web.Response:
    """Show a user."""
    found = await run(services.user.profile, arena_of(request), request.match_info["user"])
    return render(request, "user.html", table=sorted_table(request, _BOTS, found.bots), found=found, user=found.user)
