"""Submit a bot by form, and follow its check."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from aiohttp import BodyPartReader, MultipartReader, web

from arena import services
from arena.data_folder import make_folder
from arena.documents.account import Identity
from arena.http.identity import is_from_own_page, session_of
from arena.http.problem import Problem
from arena.http.request_context import CONTEXT, IDENTITY, WebContext
from arena.http.upload import IDLE_TIMEOUT_S, UPLOAD_TIMEOUT_S, time_limit
from arena.pages.language import text
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
from arena.pages.session import checked_form
from referee.errors import ArenaError
from referee.rules import families

routes = web.RouteTableDef()
_FIELD_BYTES = 2000
_CHUNK = 256 * 1024


@dataclass(slots=True)
class Form:
    """The fields of the form; `file` is open for reading at its start."""

    file: BinaryIO
    name: str = ""
    families: list[str] = field(default_factory=list)
    tc: str = ""
    size: int = 0


def _page(request: web.Request, *, problem: str = "", status: int = 200, **given: Any) -> web.Response:
    settings = request.app[CONTEXT].settings
    return render(
        request,
        "submit.html",
        status=status,
        keep="no-store",
        problem=problem,
        settings=settings,
        templates=services.submission.LANGUAGES,
        given={"name": "", "families": [], "tc": "", "source": services.submission.python_source(), **given},
    )


@routes.get("/submit")
@allow_parameters()
async def show(request: web.Request) -> web.Response:
    """Show the form, or how to get an account."""
    return _page(request)


@routes.get("/submit/templates/{language}.zip")
@allow_parameters()
async def template(request: web.Request) -> web.Response:
    """Serve the example bot in a programming language as an archive."""
    language = request.match_info["language"]
    body = await run(services.submission.archive, language)
    headers = {
        "Content-Disposition": f'attachment; filename="bot-{language}.zip"',
        "Cache-Control": "public, max-age=3600",
    }
    return web.Response(body=body, content_type="application/zip", headers=headers)


@routes.post("/submit/source")
async def submit_source(request: web.Request) -> web.Response:
    """Receive a bot written on the page, and redirect to its check."""
    fields = await checked_form(request, file="source")
    identity, context = request[IDENTITY], request.app[CONTEXT]
    given: dict[str, Any] = {
        "name": fields.get("name", "").strip()[:60],
        "families": [name for name in families() if fields.get(f"family-{name}")],
        "source": fields.get("source", ""),
    }
    _require_author(identity)
    if wait := await context.limiters["upload"].admit(f"user:{identity.user_id}"):
        return _page(
            request,
            problem=text("Too many uploads; try again in %(seconds)s s.") % {"seconds": f"{wait:.0f}"},
            status=429,
            **given,
        )
    try:
        version = await run_use_case(services.submission.submit_source, context.arena, by=identity, **given)
    except ArenaError as error:
        if error.status >= 500:
            raise
        return _page(request, problem=error_sentence(error), status=error.status, **given)
    return redirect(f"/submissions/{version.id}")


def _require_author(identity: Identity) -> None:
    if "submit" not in identity.scopes:
        raise Problem("forbidden", "your account may not submit bots", hint="ask an admin for the role author")


@routes.post("/submit")
async def submit(request: web.Request) -> web.Response:
    """Receive an upload, and redirect to its check."""
    context = request.app[CONTEXT]
    identity = await session_of(request)
    if identity is None:
        raise Problem("unauthorised", "log in to submit a bot", hint="or use `arena bot submit` with a token")
    _require_author(identity)
    if wait := await context.limiters["upload"].admit(f"user:{identity.user_id}"):
        return _page(
            request,
            problem=text("Too many uploads; try again in %(seconds)s s.") % {"seconds": f"{wait:.0f}"},
            status=429,
        )
    if request.content_type != "multipart/form-data":
        raise Problem("media-type", "expected a form with a file")
    with tempfile.TemporaryFile(dir=_incoming(context)) as file:
        form = Form(file)
        async with time_limit(UPLOAD_TIMEOUT_S):
            is_ours = await _read(request, form, lambda token: is_from_own_page(request, identity, token), context)
        if not is_ours:
            raise Problem("forbidden", "the form has expired", hint="reload the page and send it again")
        unknown = [name for name in form.families if name not in families()]
        if unknown:
            raise Problem("bad-request", "unknown family", hint="choose from the list")
        file.seek(0)
        context.metrics.upload_bytes.inc(form.size)
        try:
            admission = await run_use_case(services.submission.admit, context.arena, form.name, identity)
            version = await run_use_case(
                services.submission.submit, context.arena, admission, file, families=form.families, tc=form.tc
            )
        except ArenaError as error:
            if error.status >= 500:
                raise
            given = {"name": form.name, "families": form.families, "tc": form.tc}
            return _page(request, problem=error_sentence(error), status=error.status, **given)
    return redirect(f"/submissions/{version.id}")


def _incoming(context: WebContext) -> Path:
    folder = Path(context.settings.data) / "incoming"
    make_folder(folder)
    return folder


async def _read(request: web.Request, form: Form, is_ours: Callable[[str], bool], context: WebContext) -> bool:
    """Read the parts of the form. The CSRF token must come first, else nothing more is read. Raises Problem."""
    limit = context.settings.max_upload_bytes
    try:
        reader = await request.multipart()
        part = await _next(reader)
        if part is None or part.name != "csrf" or not is_ours(await _text(part)):
            return False
        while (part := await _next(reader)) is not None:
            await _take(part, form, limit)
    except (ValueError, AssertionError, LookupError) as error:
        raise _unreadable() from error
    return True


async def _take(part: BodyPartReader, form: Form, limit: int) -> None:
    """Store one part of the form; unknown parts are ignored."""
    if part.name == "file":
        while chunk := await _chunk(part):
            form.size += len(chunk)
            if form.size > limit:
                raise Problem("too-large", f"an upload may have at most {limit:,} bytes", limit=limit)
            await asyncio.to_thread(form.file.write, chunk)
    elif part.name == "name":
        form.name = (await _text(part)).strip()
    elif part.name == "tc":
        form.tc = (await _text(part)).strip()[:40]
    elif part.name == "family":
        form.families.append((await _text(part))[:40])


async def _next(reader: MultipartReader) -> BodyPartReader | None:
    """Return the next part; None at the end. Raises Problem for a nested form."""
    async with time_limit(IDLE_TIMEOUT_S):
        part = await reader.next()
    if part is not None and not isinstance(part, BodyPartReader):
        raise _unreadable()
    return part


def _unreadable() -> Problem:
    return Problem("bad-request", "the form cannot be read", hint="send it again")


async def _chunk(part: BodyPartReader, size: int = _CHUNK) -> bytes:
    async with time_limit(IDLE_TIMEOUT_S):
        return await part.read_chunk(size)


async def _text(part: BodyPartReader) -> str:
    data = await _chunk(part, _FIELD_BYTES)
    if not part.at_eof() and await _chunk(part, _FIELD_BYTES):
        raise Problem("bad-request", "a field is too long")
    return data.decode("utf-8", "replace")


@routes.get("/submissions/{submission}")
@allow_parameters()
async def submission(request: web.Request) -> web.Response:
    """Show the check of a version, step by step; its log only to the owner, organisers and admins."""
    number = path_number(request, "submission", "submission")
    arena, identity = arena_of(request), await session_of(request)
    line = await run(services.submission.read, arena, number, identity)
    turn = {"uploaded": services.submission.place_of_check, "active": services.submission.place_of_first_game}.get(
        line.state
    )
    fit = sorted(name for name, variants in line.families.items() if variants)
    return render(
        request,
        "submission.html",
        keep="no-store",
        line=line,
        is_own=identity is not None and identity.name == line.owner,
        fit=fit,
        place=await run(turn, arena, number) if turn else None,
        ladders=await run(services.submission.ladders, arena, fit) if line.state == "active" else [],
        steps=[_step(text) for text in request.app[CONTEXT].live.steps.get(number, ())],
    )


def _step(text: str) -> tuple[str, bool | None]:
    """Split a step of the check, such as `loa: handshake: ok`, into its name and whether it passed."""
    name, _, verdict = text.rpartition(": ")
    return (name, verdict == "ok") if verdict in ("ok", "no") else (text, None)
