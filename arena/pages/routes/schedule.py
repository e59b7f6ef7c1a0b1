"""The page of a schedule: its next dates, and the tournaments it has created."""

from __future__ import annotations

from datetime import UTC, datetime

from aiohttp import web

from arena import services
from arena.documents.tournament import TournamentQuery
from arena.http.request_context import IDENTITY
from arena.pages.columns import TOURNAMENTS
from arena.pages.html_table import sorted_table
from arena.pages.page import allow_parameters, arena_of, path_number, redirect, render, run, run_use_case
from arena.pages.session import checked_form
from arena.tournaments.time_class import time_class_in
from referee.rules import families, load

routes = web.RouteTableDef()
MAX_TOURNAMENTS = 20
"""Maximum number of tournaments on a page."""


@routes.get("/schedules/{schedule}")
@allow_parameters("after", "sort")
async def show(request: web.Request) -> web.Response:
    """Show a schedule."""
    arena, number = arena_of(request), path_number(request, "schedule", "schedule")
    query = TournamentQuery(schedule=number, limit=MAX_TOURNAMENTS, after=request.query.get("after") or None)
    found, created = await run(lambda: (services.schedule.show(arena, number), services.tournament.page(arena, query)))
    return render(
        request,
        "schedule.html",
        schedule=found.schedule,
        dates=found.dates,
        document=found.document,
        rules=load(found.document.family) if found.document else None,
        pace=time_class_in(found.schedule.template),
        text=found.text,
        tournaments=created,
        table=sorted_table(request, TOURNAMENTS, created.items),
        all_rules={name: load(name) for name in families()},
        now=datetime.now(UTC),
    )


@routes.post("/schedules/{schedule}/switch")
async def switch(request: web.Request) -> web.Response:
    """Enable a schedule from its next date on, or disable it."""
    fields = await checked_form(request)
    number = path_number(request, "schedule", "schedule")
    await run_use_case(services.schedule.switch, arena_of(request), number, fields.get("to") == "on", request[IDENTITY])
    return redirect(f"/schedules/{number}")
