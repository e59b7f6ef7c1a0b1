"""Serves the OpenAPI document, generated once from the table of routes."""

from __future__ import annotations

import json

from aiohttp import web

from arena.api.openapi import document
from arena.api.routes import TABLE
from arena.http import cache_control
from arena.http.api_paths import OPENAPI, PREFIX, VERSION

_FORM = "application/json; charset=utf-8"


def add_documents(app: web.Application) -> None:
    """Add the route `/api/v1/openapi.json` and store the document under the key `OPENAPI`."""
    app[OPENAPI] = found = document(TABLE, VERSION)
    body = json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode()

    async def show(request: web.Request) -> web.Response:
        return cache_control.respond(request, body, status=200, keep="revalidate", is_private=False, content_type=_FORM)

    app.router.add_get(f"{PREFIX}/openapi.json", show)
