"""The public page of a user: bots and organised tournaments."""

from __future__ import annotations

from datetime import UTC, datetime

from aiohttp import web

from arena import services
from arena.pages.columns import TOURNAMENTS, text_column
from arena.pages.html_table import Column, sorted_table
from arena.pages.page import allow_parameters, arena_of, render, run
from referee.rules import families, load

routes = web.RouteTableDef()
_BOTS = (
    text_column("name", "Bot"),
    text_column("", "Plays"),
    Column("versions", "Versions"),
    text_column("newest_state", "Newest version"),
    Column("created_at", "Since"),
)


@routes.get("/users/{user}")
@allow_parameters("sort", "tournaments")
async def show(request: web.Request) -> web.Response:
    """Show a user."""
    found = await run(services.user.profile, arena_of(request), request.match_info["user"])
    return render(
        request,
        "user.html",
        table=sorted_table(request, _BOTS, found.bots),
        tournaments=sorted_table(request, TOURNAMENTS, found.tournaments, parameter="tournaments"),
        rules={name: load(name) for name in families()},
        now=datetime.now(UTC),
        found=found,
        user=found.user,
    )
