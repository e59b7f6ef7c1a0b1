"""The page of greetings, and the card of the front page."""

from aiohttp import web
from markupsafe import Markup

from arena.pages.page import Card, allow_parameters, arena_of, render, run
from greetings import tables

routes = web.RouteTableDef()


@routes.get("/greetings")
@allow_parameters()
async def show(request: web.Request) -> web.Response:
    return render(request, "greetings/list.html", greetings=await run(tables.latest, arena_of(request).store))


async def card(request: web.Request) -> Card | None:
    found = await run(tables.latest, arena_of(request).store)
    return Card(Markup('<p id="greeting">{}</p>').format(found[0])) if found else None
