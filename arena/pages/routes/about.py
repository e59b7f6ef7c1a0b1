"""The page about this arena: its version, and its features."""

from __future__ import annotations

from aiohttp import web

from arena import feature
from arena.documents.table import Column, text_column
from arena.feature import Installed
from arena.http.request_context import CONTEXT
from arena.pages.html_table import HtmlTable
from arena.pages.page import allow_parameters, render, run
from referee.machine import source

routes = web.RouteTableDef()


@routes.get("/about")
@allow_parameters()
async def show(request: web.Request) -> web.Response:
    """Show the version of the arena, and the installed features."""

    def is_own(installed: Installed) -> bool:
        return installed.module.startswith(f"{feature.BUILT_IN}.")

    disabled = request.app[CONTEXT].settings.disabled_features
    columns: tuple[Column[Installed], ...] = (
        text_column("name", "Feature", lambda installed: installed.name, is_heading=True),
        text_column("title", "Content", lambda installed: installed.feature.title if installed.feature else "", "word"),
        text_column("state", "State", lambda installed: installed.state(disabled), "word"),
        text_column("package", "Package", lambda installed: None if is_own(installed) else installed.package),
        text_column("version", "Version", lambda installed: None if is_own(installed) else installed.version),
    )
    features = await run(HtmlTable, columns, feature.installed())
    return render(request, "about.html", features=features, release=source.release())
