"""Greetings as JSON."""

from dataclasses import dataclass

from arena.api.registry import Routes
from arena.http.request_context import RequestContext
from greetings import tables

routes = Routes()


@dataclass(frozen=True)
class Greetings:
    """The latest greetings."""

    items: list[str]


@routes.get("/greetings", tag="greetings", summary="List greetings")
async def page(call: RequestContext) -> Greetings:
    """List the latest greetings."""
    return Greetings(await call.run(tables.latest, call.arena.store))
