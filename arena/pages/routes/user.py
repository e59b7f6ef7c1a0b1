"""The public page of a user: bots and organised tournaments."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from arena.errors import NotFoundError
from arena.http.problem import not_found
from arena.pages.columns import text_column
from arena.pages.html_table import Column, sorted_table
from arena.pages.page import allow_parameters, render, run, store_of

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
    store, name = store_of(request), request.match_info["user"]

    def read() -> dict[str, Any]:
        try:
            user = store.users.find(name)
        except NotFoundError:
            raise not_found("user", name) from None
        return {
            "user": user,
            "has_played": store.people.has_played(user.name),
            "bots": store.bots.page(owner_id=user.id, with_retired=True, limit=200).items,
            "tournaments": store.tournaments.page(created_by=user.id, limit=20).items,
        }

    found = await run(read)
    return render(request, "user.html", table=sorted_table(request, _BOTS, found["bots"]), **found)
