"""Addresses of the JSON interface, for modules that link to it: problems, pages, redirects."""

from __future__ import annotations

from typing import Any

from aiohttp import web

VERSION = "1"
PREFIX = f"/api/v{VERSION}"
DOCS = f"{PREFIX}/docs"
"""The page that documents the interface."""

OPENAPI: web.AppKey[dict[str, Any]] = web.AppKey("openapi", dict)
"""The OpenAPI document of an application, as plain data."""
