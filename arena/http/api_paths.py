"""Where the JSON interface is, for those who point at it: problems, pages, links."""

from __future__ import annotations

from typing import Any

from aiohttp import web

VERSION = "1"
PREFIX = f"/api/v{VERSION}"
DOCS = f"{PREFIX}/docs"
"""The page about it."""

OPENAPI: web.AppKey[dict[str, Any]] = web.AppKey("openapi", dict)
"""The OpenAPI document of an application, as plain data."""
