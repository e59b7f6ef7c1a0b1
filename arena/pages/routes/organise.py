"""Create and change tournaments and schedules by form or as TOML: fill in, preview, save."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from aiohttp import web

from arena import services
from arena.documents.identity import Identity
from arena.errors import ArenaError
from arena.http.identity import session_of
from arena.http.problem import Problem
from arena.http.request_context import CONTEXT, IDENTITY
from arena.pages import tournament_form
from arena.pages.html_table import choice
from arena.pages.page import allow_parameters, arena_of, path_number, redirect, render, run, run_use_case, store_of
from arena.pages.routes.referee import workers_of
from arena.pages.session import checked_form
from arena.services.tournament import Preview
from arena.store.base.models import Schedule, Tournament
from arena.tournaments import as_toml
from arena.tournaments.settings import FORMATS, Document, SettingsError, read
from referee.machine import toml
from referee.rules import families, load

routes = web.RouteTableDef()
_EDITABLE = ("scheduled", "paused")
"""States in which a tournament that has not started can be changed."""


@dataclass(frozen=True, slots=True)
class _Draft:
    """Target of the form: a new tournament, or the document of an existing tournament or schedule."""

    title: str
    path: str
    word: str
    save: Callable[[Document, Identity], str]
    """Store the document and return the address of its page."""


def _new(request: web.Request) -> _Draft:
    arena = arena_of(request)

    def save(document: Document, by: Identity) -> str:
        if document.schedule is not None:
            return f"/schedules/{services.schedule.create(arena, document, by).id}"
        return f"/tournaments/{services.tournament.create(arena, document, by).id}"

    return _Draft("New tournament", "/tournaments/new", "Create", save)


def _of_tournament(request: web.Request, row: Tournament) -> _Draft:
    def save(document: Document, by: Identity) -> str:
        services.tournament.change(arena_of(request), row.id or 0, document, by)
        return f"/tournaments/{row.id}"

    return _Draft(f"Change {row.name}", f"/tournaments/{row.id}/edit", "Save", save)


def _of_schedule(request: web.Request, row: Schedule) -> _Draft:
    def save(document: Document, by: Identity) -> str:
        services.schedule.change(arena_of(request), row.id or 0, document, by)
        return f"/schedules/{row.id}"

    return _Draft(f"Change {row.name}", f"/schedules/{row.id}/edit", "Save", save)


async def _organiser(request: web.Request) -> Identity | web.Response:
    """Return the organiser, or a redirect to the log-in form. Raises Problem (403)."""
    identity = await session_of(request)
    if identity is None:
        return redirect(f"/login?next={quote(request.rel_url.raw_path)}")
    if "organise" not in identity.scopes:
        raise Problem(
            "forbidden", "your account may not organise tournaments", hint="ask an admin for the role organiser"
        )
    return identity


def settings_of(row: Tournament) -> dict[str, Any]:
    """Return a tournament's document without defaults and without its schedule, but with its start time."""
    starts = {} if row.started_at else {"start_time": row.start_time.isoformat()}
    document = read({**row.settings, "schedule": None, **starts})
    return document.model_dump(mode="json", exclude_defaults=True, exclude_none=True)


@routes.get("/tournaments/new")
@allow_parameters("like", "format", "family")
async def new(request: web.Request) -> web.Response:
    """Show the empty form; `?like=` copies the settings of another tournament."""
    if isinstance(found := await _organiser(request), web.Response):
        return found
    settings: dict[str, Any] = {
        "family": choice(request.query, "family", families(), families()[0]),
        "format": choice(request.query, "format", FORMATS, FORMATS[0]),
    }
    if request.query.get("like", "").isdecimal():
        row = await run(store_of(request).tournaments.get, int(request.query["like"][:9]))
        settings = {name: value for name, value in settings_of(row).items() if name != "start_time"}
    return await _show(request, _new(request), settings)


@routes.post("/tournaments/new")
async def create(request: web.Request) -> web.Response:
    """Handle the buttons of the form: preview, create, download as TOML, or fill in from TOML."""
    return await _answer(request, _new(request))


@routes.get("/tournaments/{tournament}/edit")
@allow_parameters()
async def edit(request: web.Request) -> web.Response:
    """Show the form of a tournament that has not started."""
    if isinstance(found := await _organiser(request), web.Response):
        return found
    row = await _tournament(request)
    return await _show(request, _of_tournament(request, row), settings_of(row))


@routes.post("/tournaments/{tournament}/edit")
async def change(request: web.Request) -> web.Response:
    """Replace the document of a tournament."""
    return await _answer(request, _of_tournament(request, await _tournament(request)))


async def _tournament(request: web.Request) -> Tournament:
    row = await run(store_of(request).tournaments.get, path_number(request, "tournament", "tournament"))
    if row.started_at is not None or row.state not in _EDITABLE:
        hint = f"create a copy at /tournaments/new?like={row.id}"
        raise Problem("conflict", f"the tournament is {row.state}: its settings can no longer change", hint=hint)
    return row


@routes.get("/schedules/{schedule}/edit")
@allow_parameters()
async def edit_schedule(request: web.Request) -> web.Response:
    """Show the form of a schedule."""
    if isinstance(found := await _organiser(request), web.Response):
        return found
    row = await run(store_of(request).schedules.get, path_number(request, "schedule", "schedule"))
    return await _show(request, _of_schedule(request, row), row.template)


@routes.post("/schedules/{schedule}/edit")
async def change_schedule(request: web.Request) -> web.Response:
    """Replace the document of a schedule, for its future tournaments."""
    row = await run(store_of(request).schedules.get, path_number(request, "schedule", "schedule"))
    return await _answer(request, _of_schedule(request, row))


@routes.get("/tournaments/{tournament}/settings.toml")
@allow_parameters()
async def download(request: web.Request) -> web.Response:
    """Serve a tournament's document as TOML."""
    row = await run(store_of(request).tournaments.get, path_number(request, "tournament", "tournament"))
    return _file(as_toml(read(settings_of(row))), f"tournament-{row.id}")


def _file(text: str, name: str) -> web.Response:
    response = web.Response(text=text, content_type="application/toml", charset="utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{name}.toml"'
    response.headers["Cache-Control"] = "no-cache"
    return response


async def _answer(request: web.Request, draft: _Draft) -> web.Response:
    fields = await checked_form(request, "document")
    by = request[IDENTITY]
    services.tournament.require_organiser(by)
    settings: Mapping[str, Any] = {}
    try:
        is_file = fields.get("do") == "fill"
        settings = (
            await run_use_case(_read_toml, fields.get("document", ""))
            if is_file
            else tournament_form.document_of(fields)
        )
        document = read(settings)
        if fields.get("do") == "toml":
            return _file(as_toml(document), "tournament")
        if fields.get("do") == "save":
            return redirect(await run_use_case(draft.save, document, by))
        preview = await run_use_case(services.tournament.preview, arena_of(request), document, by)
        return await _show(request, draft, settings, preview)
    except SettingsError as error:
        problems = [(one["field"], one["message"]) for one in error.extra.get("errors", ())]
        message = str(error).removeprefix(f"{error.field}: ")
        return await _show(request, draft, settings, errors=problems or [(error.field or "", message)])
    except ArenaError as error:
        if error.status >= 500 or error.kind in ("forbidden", "not-found"):
            raise
        return await _show(request, draft, settings, errors=[(error.field or "name", str(error))])


def _read_toml(text: str) -> dict[str, Any]:
    try:
        return toml.read_plain(text)
    except toml.TomlError as error:
        raise SettingsError(f"invalid TOML: {error}", "document") from None


async def _show(
    request: web.Request,
    draft: _Draft,
    settings: Mapping[str, Any],
    preview: Preview | None = None,
    errors: list[tuple[str, str]] | None = None,
) -> web.Response:
    live, store = request.app[CONTEXT].live, store_of(request)
    slots = sum(one.slots for one in workers_of(live.workers, live.workers_at) or () if one.is_fit)
    family = settings.get("family")
    known = family if isinstance(family, str) and family in families() else families()[0]
    bots = await run(lambda: sorted({line.bot for line in store.versions.active(known)}))
    return render(
        request,
        "organise.html",
        status=422 if errors else 200,
        keep="no-store",
        draft=draft,
        sections=tournament_form.sections(settings),
        settings=settings,
        preview=preview,
        errors=errors or [],
        is_open={name for name in settings if settings[name]} | {field.partition(".")[0] for field, _ in errors or ()},
        slots=slots,
        bots=bots,
        family=load(known),
        variants=[variant.name for variant in load(known).variants],
        families=families(),
    )
