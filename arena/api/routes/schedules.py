"""Schedules of tournaments."""

from __future__ import annotations

from arena import services
from arena.api.registry import Number, Routes
from arena.documents.query import PageResponse
from arena.documents.schedule import PreviewQuery, ScheduleItem, SchedulePreview
from arena.http.problem import PREFIX, Problem
from arena.http.request_context import RequestContext, RouteResult
from referee.tournament.document import Document

routes = Routes()


@routes.get("/schedules", tag="schedules", summary="List schedules", example="/api/v1/schedules")
async def schedules(call: RequestContext) -> PageResponse[ScheduleItem]:
    """List all schedules by name, with the time of the next tournament."""
    return PageResponse(await call.run(services.schedule.read_all, call.arena))


@routes.post(
    "/schedules",
    tag="schedules",
    summary="Create a schedule",
    scope="organise",
    status=201,
    is_idempotent=True,
    problems=("conflict",),
    example="""/api/v1/schedules -d '{"name": "Weekly", "family": "loa", "entries": {"all": true}, """
    """"schedule": {"cron": "0 20 * * 5"}}'""",
)
async def create_schedule(call: RequestContext, body: Document) -> RouteResult[ScheduleItem]:
    """Create a schedule. The body has the settings of its tournaments, and `schedule`: the cron expression, the time
    zone, and the policy for times missed during downtime.
    """
    if body.schedule is None:
        raise Problem(
            "invalid",
            "missing schedule",
            field="schedule",
            hint="add a schedule, or create a single tournament with POST /tournaments",
        )
    document = body.model_dump(mode="json", exclude_unset=True)
    row = await call.run(services.schedule.create, call.arena, document, call.user)
    headers = {"Location": f"{PREFIX}/schedules/{row.id}"}
    return RouteResult(row, status=201, headers=headers, is_private=True)


@routes.get("/schedules/{schedule}", tag="schedules", summary="Get a schedule")
async def show_schedule(call: RequestContext, schedule: Number) -> ScheduleItem:
    """Return a schedule."""
    return await call.run(services.schedule.get, call.arena, schedule)


@routes.get(
    "/schedules/{schedule}/preview",
    tag="schedules",
    summary="Preview a schedule",
    example="/api/v1/schedules/1/preview?count=10",
)
async def preview(call: RequestContext, schedule: Number, query: PreviewQuery) -> SchedulePreview:
    """Return the next tournaments of the schedule with their bots and games, as they would be today.

    Those of a disabled schedule are the ones that it would create if it were enabled.
    """
    return await call.run(services.schedule.preview, call.arena, schedule, query.count)


@routes.put(
    "/schedules/{schedule}",
    tag="schedules",
    summary="Change a schedule",
    scope="organise",
    problems=("conflict",),
)
async def change_schedule(call: RequestContext, schedule: Number, body: Document) -> ScheduleItem:
    """Replace the settings of future tournaments. Tournaments that exist already are not changed."""
    document = body.model_dump(mode="json", exclude_unset=True)
    return await call.run(services.schedule.change, call.arena, schedule, document, call.user)


@routes.post("/schedules/{schedule}/enable", tag="schedules", summary="Enable a schedule", scope="organise")
async def enable(call: RequestContext, schedule: Number) -> ScheduleItem:
    """Enable the schedule. It continues with its next time; missed times are skipped."""
    return await _switch(call, schedule, True)


@routes.post("/schedules/{schedule}/disable", tag="schedules", summary="Disable a schedule", scope="organise")
async def disable(call: RequestContext, schedule: Number) -> ScheduleItem:
    """Disable the schedule. The tournaments that it has created remain."""
    return await _switch(call, schedule, False)


@routes.delete("/schedules/{schedule}", tag="schedules", summary="Delete a schedule", scope="organise")
async def delete(call: RequestContext, schedule: Number) -> None:
    """Delete the schedule. The tournaments that it has created remain; their `schedule_id` becomes null."""
    await call.run(services.schedule.delete, call.arena, schedule, call.user)


async def _switch(call: RequestContext, schedule: int, is_enabled: bool) -> ScheduleItem:
    return await call.run(services.schedule.switch, call.arena, schedule, is_enabled, call.user)
