"""The page with the list of tournaments, and the calendar of those to come."""

from __future__ import annotations

from datetime import UTC, datetime

from aiohttp import web

from arena import services
from arena.documents.columns import TOURNAMENTS
from arena.documents.schedule import ScheduleItem
from arena.documents.table import Column, text_column
from arena.documents.tournament import TournamentQuery
from arena.pages.filters import plain
from arena.pages.html_table import sorted_table
from arena.pages.page import allow_parameters, arena_of, render, run
from arena.pages.query_form import form_names, read_form
from arena.pages.recurrence import Appointment, calendar, schedule_name, schedule_words
from referee.rules import families, load

routes = web.RouteTableDef()
MAX_RUNNING = 8
"""Most running tournaments shown before the list."""
CALENDAR_DAYS = 14
MAX_APPOINTMENTS = 100
"""Most scheduled tournaments in the calendar."""
_RECURRING: tuple[Column[ScheduleItem], ...] = (
    text_column("name", "Name", schedule_name, "schedule", order=lambda row: row.name, is_heading=True),
    text_column("when", "When", schedule_words, is_sortable=False),
    text_column("next_fire", "Next", lambda row: row.next_fire, "next_fire"),
)


@routes.get("/tournaments")
@allow_parameters(*form_names(TournamentQuery), "after", "sort", "recurring")
async def index(request: web.Request) -> web.Response:
    """List the tournaments that match the query, latest start first; `?after=` continues the list."""
    arena = arena_of(request)
    form = read_form(request, TournamentQuery, after=request.query.get("after") or None)
    at, running = datetime.now(UTC), TournamentQuery(state="running", limit=MAX_RUNNING)
    page, shown_first, schedules, scheduled = await run(
        lambda: (
            services.tournament.page(arena, form.query),
            () if form.is_filled or form.query.after else services.tournament.page(arena, running).items,
            services.schedule.read_all(arena),
            services.tournament.page(arena, TournamentQuery(state="scheduled", limit=MAX_APPOINTMENTS)).items,
        )
    )
    fires = services.schedule.coming(schedules, at, CALENDAR_DAYS)
    appointments = [
        *(
            Appointment(tournament.start_time, plain(tournament.name, 60), f"/tournaments/{tournament.id}")
            for tournament in scheduled
        ),
        *(Appointment(fire, schedule_name(schedule), f"/schedules/{schedule.id}") for fire, schedule in fires),
    ]
    return render(
        request,
        "tournaments.html",
        tournaments=page,
        running=shown_first,
        all_rules={name: load(name) for name in families()},
        table=sorted_table(request, TOURNAMENTS, page.items),
        schedules=sorted_table(request, _RECURRING, schedules, parameter="recurring"),
        calendar=calendar(appointments, at, CALENDAR_DAYS) if appointments else (),
        now=at,
        form=form,
    )
