"""The page of a schedule: its next dates, and the tournaments it has created."""

from __future__ import annotations

from itertools import islice
from typing import Any

from aiohttp import web

from arena import services
from arena.clock import now
from arena.coordinator import cron
from arena.http.request_context import IDENTITY
from arena.pages.page import allow_parameters, arena_of, path_number, redirect, render, run, run_use_case, store_of
from arena.pages.session import checked_form
from arena.tournaments import SettingsError, as_toml, read

routes = web.RouteTableDef()
UPCOMING = 5
"""Number of future dates shown."""


@routes.get("/schedules/{schedule}")
@allow_parameters("after")
async def show(request: web.Request) -> web.Response:
    """Show a schedule."""
    store, number = store_of(request), path_number(request, "schedule", "schedule")

    def read_all() -> dict[str, Any]:
        row = store.schedules.get(number)
        try:
            dates = list(islice(cron.fires(row.cron, row.timezone, now()), UPCOMING)) if row.is_enabled else []
            text = as_toml(read(row.template))
        except SettingsError:  # stored by another version
            dates, text = [], ""
        after = request.query.get("after") or None
        return {
            "schedule": row,
            "dates": dates,
            "text": text,
            "tournaments": store.tournaments.page(schedule_id=number, limit=20, after=after),
        }

    return render(request, "schedule.html", **await run(read_all))


@routes.post("/schedules/{schedule}/switch")
async def switch(request: web.Request) -> web.Response:
    """Enable a schedule from its next date on, or disable it."""
    fields = await checked_form(request)
    number = path_number(request, "schedule", "schedule")
    await run_use_case(services.schedule.switch, arena_of(request), number, fields.get("to") == "on", request[IDENTITY])
    return redirect(f"/schedules/{number}")
