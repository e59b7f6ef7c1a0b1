"""The page of the JSON interface, drawn from its OpenAPI document. No other host is asked."""

from __future__ import annotations

import aiohttp_jinja2
from aiohttp import web

from arena.errors import KINDS
from arena.events import messages
from arena.http import cache_control
from arena.http.api_paths import DOCS, OPENAPI
from arena.pages.page import add_template_context

routes = web.RouteTableDef()


@routes.get(DOCS)
async def show(request: web.Request) -> web.Response:
    """Every operation with a line that runs, every document, every error, every topic."""
    await add_template_context(request)  # its address is one of data, its content a page
    topics = [kind.TOPIC for kind in messages.KINDS if kind.TOPIC.is_public]
    context = {"document": request.app[OPENAPI], "problems": KINDS, "topics": topics}
    text = aiohttp_jinja2.render_string("api.html", request, context)
    kind = "text/html; charset=utf-8"
    return cache_control.respond(
        request, text.encode(), status=200, keep="revalidate", is_private=True, content_type=kind
    )
