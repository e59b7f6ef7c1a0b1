"""The OpenAPI document and the page that shows it, made once from the table of routes. No other host is asked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import aiohttp_jinja2
from aiohttp import web
from markupsafe import Markup, escape

from arena.api.openapi import document
from arena.api.registry import PREFIX
from arena.api.routes import TABLE
from arena.api.routes.house import VERSION
from arena.errors import KINDS
from arena.events import messages
from arena.http import cache
from arena.http.problem import DOCS

_FORMS = {"openapi": "application/json; charset=utf-8", "docs": "text/html; charset=utf-8"}


def openapi() -> dict[str, Any]:
    """The document as plain data."""
    return document(TABLE, VERSION)


def add_documents(app: web.Application) -> None:
    """`/api/v1/openapi.json` and `/api/v1/docs`."""
    found = openapi()
    body = json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode()

    async def show_file(request: web.Request) -> web.Response:
        return cache.answer(
            request, body, status=200, keep="revalidate", is_private=False, content_type=_FORMS["openapi"]
        )

    async def show_page(request: web.Request) -> web.Response:
        topics = [kind.TOPIC for kind in messages.KINDS if kind.TOPIC.is_public]
        context = {"document": found, "problems": KINDS, "topics": topics}
        text = aiohttp_jinja2.render_string("api.html", request, context)
        return cache.answer(
            request, text.encode(), status=200, keep="revalidate", is_private=True, content_type=_FORMS["docs"]
        )

    app.router.add_get(f"{PREFIX}/openapi.json", show_file)
    app.router.add_get(DOCS, show_page)


def type_name(schema: Mapping[str, Any]) -> str:
    """A type in a few words: `integer ≥ 1`, `one of a, b`, `list of string`."""
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[-1]
    if "enum" in schema:
        return "one of " + ", ".join(map(str, schema["enum"]))
    if "const" in schema:
        return json.dumps(schema["const"])
    if "anyOf" in schema:
        return " or ".join(type_name(one) for one in schema["anyOf"])
    kind = str(schema.get("type", "anything"))
    if kind == "array":
        return f"list of {type_name(schema.get('items', {}))}"
    words = [str(schema.get("format", kind))]
    words += [f"≥ {schema['minimum']}"] if "minimum" in schema else []
    words += [f"≤ {schema['maximum']}"] if "maximum" in schema else []
    words += [f"≤ {schema['maxLength']} characters"] if "maxLength" in schema else []
    return " ".join(words)


def type_link(schema: Mapping[str, Any]) -> Markup:
    """As `type_name`, with links to documents."""
    if "$ref" in schema:
        name = type_name(schema)
        return Markup('<a href="#schema-{0}">{0}</a>').format(name)
    if "anyOf" in schema:
        return Markup(" or ").join(type_link(one) for one in schema["anyOf"])
    if schema.get("type") == "array":
        return Markup("list of {}").format(type_link(schema.get("items", {})))
    return escape(type_name(schema))
