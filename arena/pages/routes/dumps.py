"""Published dumps of games: the list of files, and their download."""

from __future__ import annotations

from aiohttp import web

from arena.collections.dumps import FILES, Dumps
from arena.http.problem import not_found
from arena.http.request_context import CONTEXT
from arena.pages.html_table import sorted_table
from arena.pages.page import allow_parameters, render, run

routes = web.RouteTableDef()


def _archive(request: web.Request) -> Dumps:
    return Dumps.of(request.app[CONTEXT].settings)


@routes.get("/dumps")
@allow_parameters()
async def show(request: web.Request) -> web.Response:
    """List the files, latest month first."""
    archive = _archive(request)
    found = await run(archive.current)
    settings = request.app[CONTEXT].settings
    hour = settings.dump_hour_utc
    dumps = sorted_table(request, FILES, found.latest_first)
    return render(request, "dumps.html", index=found, dumps=dumps, licence=archive.licence, hour=hour)


async def download(request: web.Request) -> web.StreamResponse:
    """Serve a file, or a part of it (`Range`); 304 if the client's copy is current."""
    name = request.match_info["name"]
    path = await run(_archive(request).path, name)
    if path is None:
        raise not_found("dump", name)
    kind = "text/plain; charset=utf-8" if name.endswith(".sha256") else "application/zstd"
    headers = {"Content-Type": kind, "Cache-Control": "public, no-cache", "Access-Control-Allow-Origin": "*"}
    return web.FileResponse(path, headers=headers)
