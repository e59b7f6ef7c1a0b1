"""Create and change tournaments and schedules by form or as TOML: fill in, preview, save; and the page of a schedule
with a preview of its next tournaments, and those it has created.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from aiohttp import web
from pydantic import BaseModel

from arena import services
from arena.documents.account import Identity
from arena.documents.columns import TOURNAMENTS
from arena.documents.schedule import ScheduleItem
from arena.documents.tournament import TournamentItem, TournamentQuery
from arena.http.problem import Problem
from arena.http.request_context import CONTEXT, IDENTITY
from arena.pages import filters, language, tournament_form
from arena.pages.html_table import choice, sorted_table
from arena.pages.language import marked
from arena.pages.page import allow_parameters, arena_of, path_number, redirect, render, run, run_use_case
from arena.pages.session import checked_form, require_scope
from arena.services.tournament import Preview
from referee import toml
from referee.errors import ArenaError
from referee.rules import families, load
from referee.tournament.document import Document, read
from referee.tournament.formats import DEFAULT, formats, names
from referee.tournament.part import SettingsError
from referee.tournament.preview import time_class_in
from referee.tournament.toml_text import as_toml

routes = web.RouteTableDef()
_EDITABLE = ("scheduled", "paused")
"""States in which a tournament that has not started can be changed."""


_Stored = TournamentItem | ScheduleItem


@dataclass(frozen=True, slots=True)
class _Draft:
    """Target of the form: a new tournament, or the document of an existing tournament or schedule."""

    title: str
    path: str
    word: str
    save: Callable[[Document, Identity], _Stored]
    starts: datetime | None = None
    """The start time of the existing tournament."""


def _page_of(row: _Stored) -> str:
    return f"/{'schedules' if isinstance(row, ScheduleItem) else 'tournaments'}/{row.id}"


def _new(request: web.Request) -> _Draft:
    def save(document: Document, by: Identity) -> _Stored:
        create = services.tournament.create if document.schedule is None else services.schedule.create
        return create(arena_of(request), document, by)

    return _Draft(marked("New tournament"), "/tournaments/new", marked("Create"), save)


def _of(request: web.Request, row: _Stored) -> _Draft:
    change = services.schedule.change if isinstance(row, ScheduleItem) else services.tournament.change
    title = language.text("Change %(name)s") % {"name": row.name}
    starts = row.start_time if isinstance(row, TournamentItem) else None
    return _Draft(title, f"{_page_of(row)}/edit", marked("Save"), partial(change, arena_of(request), row.id), starts)


async def _require_organiser(request: web.Request) -> None:
    """Set the request's identity to an organiser. Raise a redirect to the log-in form, or Problem (403)."""
    refusal = Problem(
        "forbidden", "your account may not organise tournaments", hint="ask an admin for the role organiser"
    )
    await require_scope(request, "organise", refusal)


def settings_of(row: TournamentItem) -> dict[str, Any]:
    """Return a tournament's document without defaults and without its schedule, but with its start time."""
    starts = {} if row.started_at else {"start_time": row.start_time.isoformat()}
    document = read({**row.settings, "schedule": None, **starts})
    return document.model_dump(mode="json", exclude_defaults=True, exclude_none=True)


@routes.get("/tournaments/new")
@allow_parameters("like", "format", "family")
async def new(request: web.Request) -> web.Response:
    """Show the empty form; `?like=` copies the settings of another tournament."""
    await _require_organiser(request)
    settings: dict[str, Any] = {
        "family": choice(request.query, "family", families(), families()[0]),
        "format": choice(request.query, "format", names(), DEFAULT),
        "entries": {"newest": True},
    }
    if request.query.get("like", "").isdecimal():
        row = await run(services.tournament.get, arena_of(request), int(request.query["like"][:9]))
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
    await _require_organiser(request)
    row = await _tournament(request)
    return await _show(request, _of(request, row), settings_of(row))


@routes.post("/tournaments/{tournament}/edit")
async def change(request: web.Request) -> web.Response:
    """Replace the document of a tournament."""
    return await _answer(request, _of(request, await _tournament(request)))


async def _tournament(request: web.Request) -> TournamentItem:
    row = await run(services.tournament.get, arena_of(request), path_number(request, "tournament", "tournament"))
    if row.started_at is not None or row.state not in _EDITABLE:
        hint = f"create a copy at /tournaments/new?like={row.id}"
        raise Problem("conflict", f"the tournament is {row.state}: its settings can no longer change", hint=hint)
    return row


@routes.get("/schedules/{schedule}/edit")
@allow_parameters()
async def edit_schedule(request: web.Request) -> web.Response:
    """Show the form of a schedule."""
    await _require_organiser(request)
    row = await run(services.schedule.get, arena_of(request), path_number(request, "schedule", "schedule"))
    return await _show(request, _of(request, row), row.template)


@routes.post("/schedules/{schedule}/edit")
async def change_schedule(request: web.Request) -> web.Response:
    """Replace the document of a schedule, for its future tournaments."""
    row = await run(services.schedule.get, arena_of(request), path_number(request, "schedule", "schedule"))
    return await _answer(request, _of(request, row))


@routes.get("/tournaments/{tournament}/settings.toml")
@allow_parameters()
async def download(request: web.Request) -> web.Response:
    """Serve a tournament's document as TOML."""
    row = await run(services.tournament.get, arena_of(request), path_number(request, "tournament", "tournament"))
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
    settings: Mapping[str, Any] = {} if fields.get("do") == "fill" else tournament_form.document_of(fields)
    try:
        match fields.get("do"):
            case "fill":
                settings = await run_use_case(_read_toml, fields.get("document", ""))
                return await _show(request, draft, settings, read(settings))
            case "toml":
                return _file(as_toml(_named(settings)), "tournament")
            case "save":
                return redirect(_page_of(await run_use_case(draft.save, _named(settings), by)))
    except ArenaError as error:
        return await _show(request, draft, settings, error=error)
    return await _show(request, draft, settings)


def _named(settings: Mapping[str, Any]) -> Document:
    """Read a document; one without a name is called by its game and its format. Raises SettingsError."""
    family, format = (str(settings.get(key, "")) for key in ("family", "format"))
    titles = language.family_titles()
    name = f"{titles.get(family, family)}, {filters.format_name(format or DEFAULT)}"
    return read({"name": name + (" {date}" if "schedule" in settings else ""), **settings})


def _read_toml(text: str) -> dict[str, Any]:
    try:
        return toml.read_plain(text)
    except toml.TomlError as error:
        raise SettingsError(f"invalid TOML: {error}", "document") from None


@dataclass(frozen=True, slots=True)
class _Plan:
    """The tournament that the form describes: a preview, or its faults by field."""

    document: Document | None = None
    preview: Preview | None = None
    errors: Sequence[tuple[str, str]] = ()


async def _plan(request: web.Request, draft: _Draft, settings: Mapping[str, Any], document: Document | None) -> _Plan:
    try:
        document = document or _named(settings)
        preview = services.tournament.preview
        expected = await run_use_case(preview, arena_of(request), document, request[IDENTITY], draft.starts)
        return _Plan(document, expected)
    except ArenaError as error:
        return _Plan(errors=_faults(error))


def _faults(error: ArenaError) -> Sequence[tuple[str, str]]:
    """Return what is wrong with a document, by field. Raises the error if it is no matter of the form."""
    if isinstance(error, SettingsError):
        faults = [(fault["field"], fault["message"]) for fault in error.extra.get("errors", ())]
        return faults or [(error.field or "", str(error).removeprefix(f"{error.field}: "))]
    if error.status >= 500 or error.kind in ("forbidden", "not-found"):
        raise error
    return [(error.field or "name", str(error))]


def _at_field(name: str, names: Container[str]) -> str:
    """Return the field that shows a fault: `swiss.half_point_byes` for `swiss.half_point_byes.zeta.0`."""
    parts = name.split(".")
    paths = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((path for path in paths if path in names), name)


async def _show(
    request: web.Request,
    draft: _Draft,
    settings: Mapping[str, Any],
    document: Document | None = None,
    error: ArenaError | None = None,
) -> web.Response:
    """Show the form, with the plan that follows from it, or the error that its last use raised."""
    plan = _Plan(errors=_faults(error)) if error else await _plan(request, draft, settings, document)
    arena = arena_of(request)
    workers = services.status.workers(arena, request.app[CONTEXT].live, None)
    slots = sum(worker.slots for worker in workers or () if worker.is_fit)
    family = settings.get("family")
    known = family if isinstance(family, str) and family in families() else families()[0]
    bots = await run(services.tournament.bots, arena, known)
    form = tournament_form.sections(settings)
    steps, advanced = tournament_form.in_steps(form)
    labels = {field.name: field.label for section in form for field in section.fields} | {"entries": "Who plays"}
    plan = replace(plan, errors=[(_at_field(name, labels), message) for name, message in plan.errors])
    wrong = {field for field, _ in plan.errors}
    is_open = {name for name, value in settings.items() if value and not _is_default(name, value)}
    is_open |= {field.partition(".")[0] for field in wrong}
    return render(
        request,
        "organise.html",
        status=422 if error else 200,  # a form that is being filled in may be incomplete
        keep="no-store",
        draft=draft,
        steps=steps,
        formats=formats(),
        advanced=advanced,
        settings=settings,
        plan=plan,
        labels=labels,
        is_open=is_open,
        is_advanced=any(
            name in is_open for section in advanced for name in (section.name, *(key.name for key in section.fields))
        ),
        slots=slots,
        bots=bots,
        family=load(known),
        variants={name: [variant.name for variant in load(name).variants] for name in families()},
        families=families(),
    )


def _is_default(name: str, value: Any) -> bool:
    """Return whether a setting, as stored, is what it would be without an entry in the document."""
    known = Document.model_fields.get(name)
    default = known.get_default(call_default_factory=True) if known else None
    return bool(value == (default.model_dump(mode="json") if isinstance(default, BaseModel) else default))


MAX_TOURNAMENTS = 20
"""Maximum number of tournaments on a page."""


@routes.get("/schedules/{schedule}")
@allow_parameters("after", "sort")
async def show_schedule(request: web.Request) -> web.Response:
    """Show a schedule."""
    arena, number = arena_of(request), path_number(request, "schedule", "schedule")
    query = TournamentQuery(schedule=number, limit=MAX_TOURNAMENTS, after=request.query.get("after") or None)
    shown, created = await run(lambda: (services.schedule.show(arena, number), services.tournament.page(arena, query)))
    return render(
        request,
        "schedule.html",
        schedule=shown.schedule,
        preview=shown.preview,
        document=shown.document,
        rules=load(shown.document.family) if shown.document else None,
        pace=time_class_in(shown.schedule.template),
        text=shown.text,
        tournaments=created,
        table=sorted_table(request, TOURNAMENTS, created.items),
        all_rules={name: load(name) for name in families()},
        now=datetime.now(UTC),
    )


@routes.post("/schedules/{schedule}/switch")
async def switch_schedule(request: web.Request) -> web.Response:
    """Enable a schedule from its next date on, or disable it."""
    fields = await checked_form(request)
    number = path_number(request, "schedule", "schedule")
    await run_use_case(services.schedule.switch, arena_of(request), number, fields.get("to") == "on", request[IDENTITY])
    return redirect(f"/schedules/{number}")


@routes.post("/schedules/{schedule}/delete")
async def delete_schedule(request: web.Request) -> web.Response:
    """Delete a schedule."""
    await checked_form(request)
    number = path_number(request, "schedule", "schedule")
    await run_use_case(services.schedule.delete, arena_of(request), number, request[IDENTITY])
    return redirect("/tournaments")
