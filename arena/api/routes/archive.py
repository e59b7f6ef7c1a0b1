"""The archive of imported games and games played here: search, show, export in the notations people use, import."""

from __future__ import annotations

from aiohttp import web

from arena import services
from arena.api.registry import Number, Routes
from arena.documents.archive import (
    ArchivePage,
    ArchiveQuery,
    ArchiveResponse,
    ArchiveSources,
    ImportQuery,
    ImportResponse,
    NotationQuery,
)
from arena.http import response_cache
from arena.http.problem import PREFIX, Problem
from arena.http.request_context import RequestContext, RouteResult
from arena.http.upload import Upload
from arena.plain_text import decoded
from arena.services.archive import MAX_TEXT_BYTES

routes = Routes()
TEXT = "text/plain"


@routes.get(
    "/archive",
    tag="archive",
    summary="Search the archive",
    example="/api/v1/archive?family=loa&result=draw&sort=length",
    problems=("invalid",),
)
async def search(call: RequestContext, query: ArchiveQuery) -> ArchivePage:
    """List the games that match the filters, latest first by default, with their total number."""
    return await call.run(services.archive.search, call.arena, query)


@routes.get("/archive/sources", tag="archive", summary="List the collections of the archive")
async def sources(call: RequestContext) -> ArchiveSources:
    """List the collections, with the number of games of each variant."""
    return await call.run(services.archive.sources, call.arena)


@routes.get(
    "/archive/{serial}",
    tag="archive",
    summary="Get a game of the archive",
    problems=("not-found",),
)
async def show(call: RequestContext, serial: Number) -> RouteResult[ArchiveResponse]:
    """Return a game with its moves, by its number in the archive."""
    return RouteResult(await call.run(services.archive.read, call.arena, serial))


@routes.get(
    "/archive/{serial}/text",
    tag="archive",
    summary="Get a game of the archive as text",
    forms={TEXT: "the game in `notation`"},
    problems=("not-found", "invalid"),
)
async def write(call: RequestContext, serial: Number, query: NotationQuery) -> web.StreamResponse:
    """Return the game as it was imported, or in a notation of its family."""
    call.accepts(TEXT)
    text = await call.run(services.archive.write, call.arena, serial, query.notation)
    response = response_cache.respond(
        call.request,
        text.encode(),
        status=200,
        keep="never",
        is_private=False,
        content_type=f"{TEXT}; charset=utf-8",
    )
    response.headers["Content-Disposition"] = f'attachment; filename="archive-{serial}.txt"'
    return response


@routes.get(
    "/archive/imports/{number}",
    tag="archive",
    summary="Get the progress of an import",
    scope="organise",
    problems=("not-found",),
)
async def show_import(call: RequestContext, number: Number) -> RouteResult[ImportResponse]:
    """Return how far an import is, and its result so far."""
    found = await call.run(services.archive.read_import, call.arena, number, call.user)
    return RouteResult(found, keep="never", is_private=True)


@routes.post(
    "/archive",
    tag="archive",
    summary="Import games",
    status=202,
    scope="organise",
    cost="upload",
    problems=("invalid", "too-large"),
    example="/api/v1/archive?family=abalone&source=migs --data-binary @migs.txt",
)
async def take_in(call: RequestContext, query: ImportQuery, upload: Upload) -> RouteResult[ImportResponse]:
    """Import the games of a text, in `notation` or in the notation that fits the beginning of the text best.

    The body is the text. The coordinator reads it: follow `Location` until `state` is not `waiting`. Valid games are
    stored, invalid ones are reported. A game is stored once, whatever its notation.
    """
    async with upload.received() as file:
        if file.size > MAX_TEXT_BYTES:
            raise Problem("too-large", f"the text is too large: at most {MAX_TEXT_BYTES:,} bytes", limit=MAX_TEXT_BYTES)
        data = await call.run(file.file.read)
    try:
        text = decoded(data)
    except UnicodeDecodeError:
        raise Problem("invalid", "the text is not UTF-8", hint="save it as UTF-8") from None
    started = await call.run(
        lambda: services.archive.start_import(
            call.arena,
            text,
            call.user,
            family=query.family,
            source=query.source,
            variant=query.variant,
            notation=query.notation,
        )
    )
    headers = {"Location": f"{PREFIX}/archive/imports/{started.id}"}
    return RouteResult(started, status=202, keep="never", headers=headers, is_private=True)
