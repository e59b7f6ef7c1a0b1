"""The documentation page of the JSON interface, rendered from its OpenAPI document without third-party scripts."""

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
    """Show every operation with an example, every schema, every error, every event topic."""
    await add_template_context(request)  # the middleware skips addresses of data, but this is a page
    topics = [kind.TOPIC for kind in messages.KINDS if kind.TOPIC.is_public]
    context = {"document": request.app[OPENAPI], "problems": KINDS, "topics": topics}
    text = aiohttp_jinja2.render_string("api.html", request, context)
    kind = "text/html; charset=utf-8"
    return cache_control.respond(
        request, text.encode(), status=200, keep="revalidate", is_private=True, content_type=kind
    )
