"""The import of games into the archive: the form, and the progress of an import."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from aiohttp import web

from arena import services
from arena.documents.archive import ImportResponse, RejectedGame
from arena.documents.table import Column, text_column
from arena.http.identity import is_from_own_page, session_of
from arena.http.problem import Problem
from arena.http.request_context import CONTEXT
from arena.http.upload import UPLOAD_TIMEOUT_S, time_limit
from arena.pages import language
from arena.pages.html_table import HtmlTable
from arena.pages.page import (
    allow_parameters,
    arena_of,
    error_sentence,
    path_number,
    redirect,
    render,
    run,
    run_use_case,
)
from arena.plain_text import decoded
from arena.services.archive import MAX_TEXT_BYTES
from referee.errors import ArenaError
from referee.rules import families, load

routes = web.RouteTableDef()
_IMPORTS: tuple[Column[ImportResponse], ...] = (
    Column("id", "No.", lambda row: row.id, "import_link"),
    text_column("file", "Collection", lambda row: row.file, "isolated"),
    text_column("state", "State", lambda row: row.state, "import_state"),
    Column("new", "New games", lambda row: row.new, "count"),
    Column("known", "Already stored", lambda row: row.known, "count"),
    Column("rejected", "Invalid", lambda row: row.rejected, "count"),
    text_column("created_at", "Uploaded", lambda row: row.created_at),
)
_REJECTED: tuple[Column[RejectedGame], ...] = (
    Column("line", "Line", lambda game: game.line),
    Column("move", "Move", lambda game: game.move or None),
    text_column("problem", "Error", lambda game: game.problem),
    text_column("position", "Position", lambda game: game.position, css="mono"),
)
_NOTHING = dict.fromkeys(("family", "source", "variant", "notation", "text"), "")


@routes.get("/archive/import")
@allow_parameters()
async def form(request: web.Request) -> web.Response:
    """Show the import form, for organisers."""
    return await _form(request)


async def _form(
    request: web.Request, *, problem: str = "", status: int = 200, given: Mapping[str, str] = _NOTHING
) -> web.Response:
    notations = {name: [notation.name for notation in load(name).formats] for name in families()}
    identity = await session_of(request)
    is_organiser = identity is not None and "organise" in identity.scopes
    return render(
        request,
        "archive_import.html",
        status=status,
        keep="no-store",
        problem=problem,
        notations=notations,
        limit=MAX_TEXT_BYTES,
        given=given,
        imports=HtmlTable(
            _IMPORTS, await run(services.archive.latest_imports, arena_of(request)) if is_organiser else ()
        ),
    )


@routes.post("/archive/import")
async def import_games(request: web.Request) -> web.Response:
    """Store a text of games to import, and redirect to the page that shows the progress."""
    identity = await session_of(request)
    if identity is None:
        raise Problem("unauthorised", "log in to import games", hint="or use `arena archive import` on the server")
    if wait := await request.app[CONTEXT].limiters["upload"].admit(f"user:{identity.user_id}"):
        problem = language.text("Too many uploads; try again in %(seconds)s s.") % {"seconds": f"{wait:.0f}"}
        return await _form(request, problem=problem, status=429)
    given = await _fields(request)
    if not is_from_own_page(request, identity, given.pop("csrf", "")):
        raise Problem("forbidden", "the form has expired", hint="reload the page and send it again")
    try:
        started = await run_use_case(
            services.archive.start_import,
            arena_of(request),
            given["text"],
            identity,
            family=given["family"],
            source=given["source"],
            variant=given["variant"] or None,
            notation=given["notation"] or None,
        )
    except ArenaError as error:
        if error.status >= 500:
            raise
        return await _form(request, problem=error_sentence(error), status=error.status, given=given)
    return redirect(f"/archive/imports/{started.id}")


@routes.get("/archive/imports/{number}")
@allow_parameters()
async def show_import(request: web.Request) -> web.Response:
    """Show the progress of an import, for organisers."""
    import_id, identity = path_number(request, "number", "import"), await session_of(request)
    progress = None
    if identity is not None and "organise" in identity.scopes:
        progress = await run(services.archive.read_import, arena_of(request), import_id, identity)
    return render(
        request,
        "import.html",
        keep="no-store",
        number=import_id,
        found=progress,
        bad=HtmlTable(_REJECTED, progress.bad if progress else ()),
    )


async def _fields(request: web.Request) -> dict[str, str]:
    """Return the fields of the form; an uploaded file replaces the text. Raises Problem."""
    if request.content_type != "multipart/form-data":
        raise Problem("media-type", "expected a form with a file")
    fields = {**_NOTHING, "csrf": ""}
    file_text = file_name = ""  # kept apart: the form sends its empty text and name after the file
    try:
        async with time_limit(UPLOAD_TIMEOUT_S):
            reader = await request.multipart()
            while (part := await reader.next()) is not None:
                name = getattr(part, "name", "") or ""
                data = bytearray()
                while chunk := await part.read_chunk():  # type: ignore[union-attr]
                    data += chunk
                    if len(data) > MAX_TEXT_BYTES:
                        limit = f"a text may have at most {MAX_TEXT_BYTES:,} bytes"
                        raise Problem("too-large", limit, limit=MAX_TEXT_BYTES)
                text = await asyncio.to_thread(decoded, bytes(data))
                if name == "file":
                    file_text, file_name = text, getattr(part, "filename", "") or ""
                elif name in fields:
                    fields[name] = text if name == "text" else text.strip()[:200]
    except UnicodeDecodeError:
        raise Problem("bad-request", "the text is not UTF-8", hint="save it as UTF-8") from None
    except (ValueError, AssertionError, LookupError, AttributeError) as error:
        raise Problem("bad-request", "the form cannot be read", hint="send it again") from error
    return {**fields, "text": file_text or fields["text"], "source": fields["source"] or file_name}
