"""The service: index, limits, failed games, audit log, dumps, schedules, the coordinator."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal

from arena import services
from arena.api.handle import MAX_BODY_BYTES
from arena.api.page import PageQuery, page
from arena.api.registry import Routes
from arena.api.schemas import AuditItem, DumpItem, Index, LimitsResponse, Number, Out, VoidItem
from arena.collections.dump import DamagedError
from arena.collections.dumps import DumpIndex, Dumps
from arena.documents.page import MAX_LIMIT, PageResponse
from arena.http.api_paths import DOCS, PREFIX, VERSION
from arena.http.problem import Problem
from arena.http.request_context import RequestContext, RouteResult
from arena.services.access import shown_owner, shown_void
from arena.store.base.models import Audit
from arena.tournaments.settings import Document
from referee.ratings.trueskill import PROVISIONAL_GAMES, PROVISIONAL_SIGMA

routes = Routes()


class AuditQuery(PageQuery):
    """The subject of the actions, such as `bot:zeta`."""

    subject: str | None = None


class ScheduleItem(Out):
    """A recurring tournament. `template` is the settings document of its tournaments."""

    id: int
    name: str
    cron: str
    timezone: str
    catch_up: Literal["skip", "once", "all"]
    template: dict[str, Any]
    is_enabled: bool
    next_fire: datetime | None
    created_at: datetime


class Referee(Out):
    """The coordinator, which schedules, plays and records games. `lease_owner` is null when none is active."""

    lease_owner: str | None
    until: datetime | None
    is_alive: bool
    games: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class DumpList(PageResponse[DumpItem]):
    """The monthly dumps of games. They contain every result up to the commit number `through`."""

    items: list[DumpItem]
    licence: str
    through: int
    written: datetime | None


@routes.get("", tag="service", summary="Get the index of the interface", example="/api/v1")
async def index(call: RequestContext) -> Index:
    """Return the addresses of the OpenAPI document, its pages and all lists."""
    nouns = ("families", "leaderboards", "bots", "tournaments", "games", "voids", "schedules", "dumps")
    return Index(
        openapi=f"{PREFIX}/openapi.json",
        docs=DOCS,
        version=VERSION,
        lists={noun: f"{PREFIX}/{noun}" for noun in nouns},
    )


@routes.get("/limits", tag="service", summary="Get the limits of this server", example="/api/v1/limits")
async def limits(call: RequestContext) -> LimitsResponse:
    """Return the sizes, rates and thresholds of this server."""
    context = call.context
    return LimitsResponse(
        max_upload_bytes=context.settings.max_upload_bytes,
        max_bots=context.settings.quota_bots,
        max_versions=context.settings.quota_versions,
        max_user_bytes=context.settings.quota_bytes,
        max_body_bytes=MAX_BODY_BYTES,
        max_page=MAX_LIMIT,
        requests_per_minute={
            **{name: one.rate.per_minute for name, one in context.limiters.items()},
            "login": context.settings.logins_per_minute,
        },
        streams=context.streams.each,
        exports=context.exports.each,
        provisional_games=PROVISIONAL_GAMES,
        provisional_sigma=PROVISIONAL_SIGMA,
    )


@routes.get("/referee", tag="service", summary="Get the active coordinator", example="/api/v1/referee")
async def referee(call: RequestContext) -> RouteResult[Referee]:
    """Return the active coordinator and the numbers of waiting and running games.

    `lease_owner` is an anonymous mark of its process. Organisers get its name, which contains the host name.
    """
    lease = await call.run(call.store.leases.get, "referee")
    body = Referee(
        lease_owner=shown_owner(call.context.settings, call.identity, lease.owner) if lease else None,
        until=lease.until if lease else None,
        is_alive=lease is not None and lease.is_alive,
        games=await call.run(call.store.queue.open),
    )
    return RouteResult(body, keep="never")


@routes.get("/voids", tag="service", summary="List void games", example="/api/v1/voids")
async def voids(call: RequestContext, query: PageQuery) -> PageResponse[VoidItem]:
    """List void attempts at games, latest first. They are unrated and the games are played again."""
    rows = await call.run(call.store.voids.page, limit=query.limit, after=query.after)
    settings = call.context.settings
    return page(rows, lambda line: VoidItem.model_validate(shown_void(settings, call.identity, line)))


@routes.get("/dumps", tag="service", summary="List dumps of games", example="/api/v1/dumps")
async def dumps(call: RequestContext) -> DumpList:
    """List the monthly dumps of all results, written daily. All numbers of the leaderboards can be computed from them.

    A file is zstd-compressed NDJSON: a header with its licence, then one game record per line. Each record also has
    `commit_number` (the order in which ratings are computed), `pool`, `is_rated` and `follows` (a player's earlier
    versions).
    """
    archive = Dumps.of(call.context.settings)
    try:
        found = await call.run(archive.index)
    except DamagedError:
        found = DumpIndex()  # the next run rewrites it
    items = [DumpItem(**asdict(dump), url=f"/dumps/{dump.file}") for dump in found.latest_first]
    written = datetime.fromisoformat(found.written) if found.written else None
    return DumpList(items=items, licence=archive.licence, through=found.through, written=written)


@routes.get("/audit", tag="service", summary="List the audit log", scope="admin", example="/api/v1/audit")
async def audit(call: RequestContext, query: AuditQuery) -> PageResponse[AuditItem]:
    """List the audit log, latest first."""
    if query.subject is not None and not query.subject.isprintable():
        return PageResponse(items=[])
    rows = await call.run(call.store.audit.page, subject=query.subject, limit=query.limit, after=query.after)
    ids = {row.user_id for row in rows.items if row.user_id is not None}
    names = await call.run(call.store.users.names, sorted(ids)) if ids else {}
    return page(rows, lambda row: _audit_item(row, names))


def _audit_item(row: Audit, names: dict[int, str]) -> AuditItem:
    assert row.id is not None
    return AuditItem(
        id=row.id,
        logged_at=row.logged_at,
        user=names.get(row.user_id or 0),
        action=row.action,
        subject=row.subject,
        detail=row.detail,
    )


# -- schedules ---------------------------------------------------------------------------------------------------------


@routes.get("/schedules", tag="schedules", summary="List schedules", example="/api/v1/schedules")
async def schedules(call: RequestContext) -> PageResponse[ScheduleItem]:
    """List all schedules by name, with the time of the next tournament."""
    rows = await call.run(call.store.schedules.all)
    return PageResponse(items=[ScheduleItem.model_validate(row) for row in rows])


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
    """Create a schedule. The body is a tournament's document with `schedule`: cron expression, time zone, policy after
    downtime.
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
    return RouteResult(ScheduleItem.model_validate(row), status=201, headers=headers, is_private=True)


@routes.get("/schedules/{schedule}", tag="schedules", summary="Get a schedule")
async def show_schedule(call: RequestContext, schedule: Number) -> ScheduleItem:
    """Return a schedule."""
    return ScheduleItem.model_validate(await call.run(call.store.schedules.get, schedule))


@routes.put(
    "/schedules/{schedule}",
    tag="schedules",
    summary="Change a schedule",
    scope="organise",
    problems=("conflict",),
)
async def change_schedule(call: RequestContext, schedule: Number, body: Document) -> ScheduleItem:
    """Replace the document for future tournaments. Tournaments created before stay as they are."""
    document = body.model_dump(mode="json", exclude_unset=True)
    row = await call.run(services.schedule.change, call.arena, schedule, document, call.user)
    return ScheduleItem.model_validate(row)


@routes.post("/schedules/{schedule}/enable", tag="schedules", summary="Enable a schedule", scope="organise")
async def enable(call: RequestContext, schedule: Number) -> ScheduleItem:
    """Enable the schedule. It continues with its next time after now."""
    return await _switch(call, schedule, True)


@routes.post("/schedules/{schedule}/disable", tag="schedules", summary="Disable a schedule", scope="organise")
async def disable(call: RequestContext, schedule: Number) -> ScheduleItem:
    """Disable the schedule. Tournaments created before stay."""
    return await _switch(call, schedule, False)


async def _switch(call: RequestContext, schedule: int, is_enabled: bool) -> ScheduleItem:
    row = await call.run(services.schedule.switch, call.arena, schedule, is_enabled, call.user)
    return ScheduleItem.model_validate(row)
