"""The service: the index, limits in numbers, failures of the last days, the audit log, schedules, who referees."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Any, Literal

from arena import services
from arena.api.handle import MAX_BODY_BYTES
from arena.api.page import MAX_LIMIT, Page, PageQuery, page
from arena.api.registry import Routes
from arena.api.schemas import AuditItem, DumpItem, Index, Limits, Number, Out, VoidItem
from arena.collections.dump import DamagedError
from arena.collections.dumps import DumpIndex, Dumps
from arena.http.api_paths import DOCS, PREFIX, VERSION
from arena.http.problem import Problem
from arena.http.request_context import RequestContext, RouteResult
from arena.services.access import shown_owner, shown_void
from arena.store.models import Audit
from arena.tournaments.settings import Document
from referee.ratings.trueskill import PROVISIONAL_GAMES, PROVISIONAL_SIGMA

routes = Routes()


class AuditQuery(PageQuery):
    """What was done to one subject, such as `bot:zeta`."""

    subject: str | None = None


class ScheduleItem(Out):
    """A recurring tournament. `template` is the settings document it creates from."""

    id: int
    name: str
    cron: str
    zone: str
    missed: Literal["skip", "once", "all"]
    template: dict[str, Any]
    is_enabled: bool
    next_fire: datetime | None
    created: datetime


class Referee(Out):
    """Who schedules, plays and records: nobody when `holder` is null."""

    holder: str | None
    until: datetime | None
    is_alive: bool
    games: dict[str, int]


class DumpList(Page[DumpItem]):
    """The archive of games, a file a month. Every result up to the commit number `through` is in it."""

    licence: str
    through: int
    written: datetime | None


@routes.get("", tag="service", summary="Where everything is", example="/api/v1")
async def index(call: RequestContext) -> Index:
    """The addresses of the document, its pages, and all lists."""
    nouns = ("families", "leaderboards", "bots", "tournaments", "games", "voids", "schedules", "dumps")
    return Index(
        openapi=f"{PREFIX}/openapi.json",
        docs=DOCS,
        version=VERSION,
        lists={noun: f"{PREFIX}/{noun}" for noun in nouns},
    )


@routes.get("/limits", tag="service", summary="What is bounded, in numbers", example="/api/v1/limits")
async def limits(call: RequestContext) -> Limits:
    """Sizes, rates and thresholds of this server."""
    context = call.context
    return Limits(
        max_upload_bytes=context.settings.max_upload_bytes,
        max_bots=context.settings.max_bots,
        max_versions=context.settings.max_versions,
        max_user_bytes=context.settings.max_user_bytes,
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


@routes.get("/referee", tag="service", summary="Who referees", example="/api/v1/referee")
async def referee(call: RequestContext) -> RouteResult[Referee]:
    """The process that plays and records, and how many games are waiting and running.

    `holder` is a mark of it; organisers read its name, in which its machine's is.
    """
    lease = await call.run(call.store.leases.get, "referee")
    body = Referee(
        holder=shown_owner(call.context.settings, call.identity, lease.owner) if lease else None,
        until=lease.until if lease else None,
        is_alive=lease is not None and lease.is_alive,
        games=await call.run(call.store.queue.open),
    )
    return RouteResult(body, keep="never")


@routes.get("/voids", tag="service", summary="Games that failed through no bot's fault", example="/api/v1/voids")
async def voids(call: RequestContext, query: PageQuery) -> Page[VoidItem]:
    """Attempts that came to nothing, latest first: they are played again and never rated."""
    rows = await call.run(call.store.voids.page, limit=query.limit, after=query.after)
    settings = call.context.settings
    return page(rows, lambda line: VoidItem.model_validate(shown_void(settings, call.identity, line)))


@routes.get("/dumps", tag="service", summary="The archive of all games", example="/api/v1/dumps")
async def dumps(call: RequestContext) -> DumpList:
    """Files of every result, one a month, written daily; from them every number of a leaderboard can be computed.

    A file is zstd-compressed NDJSON: a heading with its licence, then one game record a line with `committed` (the
    order in which ratings are folded), `pool`, `is_rated` and `follows` (the versions before a player's own).
    """
    archive = Dumps.of(call.context.settings)
    try:
        found = await call.run(archive.index)
    except DamagedError:
        found = DumpIndex()  # the next run writes it anew
    items = [DumpItem(**asdict(dump), url=f"/dumps/{dump.file}") for dump in found.latest_first]
    written = datetime.fromisoformat(found.written) if found.written else None
    return DumpList(items=items, licence=archive.licence, through=found.through, written=written)


@routes.get("/audit", tag="service", summary="Who did what", scope="admin", example="/api/v1/audit")
async def audit(call: RequestContext, query: AuditQuery) -> Page[AuditItem]:
    """The audit log, latest first."""
    if query.subject is not None and not query.subject.isprintable():
        return Page(items=[])
    rows = await call.run(call.store.audit.page, subject=query.subject, limit=query.limit, after=query.after)
    ids = {row.user_id for row in rows.items if row.user_id is not None}
    names = await call.run(call.store.users.names, sorted(ids)) if ids else {}
    return page(rows, lambda row: _audit_item(row, names))


def _audit_item(row: Audit, names: dict[int, str]) -> AuditItem:
    assert row.id is not None
    return AuditItem(
        id=row.id,
        at=row.at,
        user=names.get(row.user_id or 0),
        action=row.action,
        subject=row.subject,
        detail=row.detail,
    )


# -- schedules ---------------------------------------------------------------------------------------------------------


@routes.get("/schedules", tag="schedules", summary="All recurring tournaments", example="/api/v1/schedules")
async def schedules(call: RequestContext) -> Page[ScheduleItem]:
    """Every schedule by name, with its next time."""
    rows = await call.run(call.store.schedules.all)
    return Page(items=[ScheduleItem.model_validate(row) for row in rows])


@routes.post(
    "/schedules",
    tag="schedules",
    summary="Create a recurring tournament",
    scope="organise",
    status=201,
    is_idempotent=True,
    problems=("conflict",),
    example="""/api/v1/schedules -d '{"name": "Weekly", "family": "loa", "entries": {"all": true}, """
    """"schedule": {"cron": "0 20 * * 5"}}'""",
)
async def create_schedule(call: RequestContext, body: Document) -> RouteResult[ScheduleItem]:
    """The document of a tournament with a `schedule` in it: cron, time zone, and what follows downtime."""
    if body.schedule is None:
        raise Problem("invalid", "no schedule in the document", field="schedule", hint="a single one: /tournaments")
    document = body.model_dump(mode="json", exclude_unset=True)
    row = await call.run(services.schedule.create, call.arena, document, call.user)
    headers = {"Location": f"{PREFIX}/schedules/{row.id}"}
    return RouteResult(ScheduleItem.model_validate(row), status=201, headers=headers, is_private=True)


@routes.get("/schedules/{schedule}", tag="schedules", summary="A recurring tournament")
async def show_schedule(call: RequestContext, schedule: Number) -> ScheduleItem:
    """One schedule."""
    return ScheduleItem.model_validate(await call.run(call.store.schedules.get, schedule))


@routes.put(
    "/schedules/{schedule}",
    tag="schedules",
    summary="Change a recurring tournament",
    scope="organise",
    problems=("conflict",),
)
async def change_schedule(call: RequestContext, schedule: Number, body: Document) -> ScheduleItem:
    """Another document for the tournaments to come; those created stay as they are."""
    document = body.model_dump(mode="json", exclude_unset=True)
    row = await call.run(services.schedule.change, call.arena, schedule, document, call.user)
    return ScheduleItem.model_validate(row)


@routes.post("/schedules/{schedule}/enable", tag="schedules", summary="Switch a schedule on", scope="organise")
async def enable(call: RequestContext, schedule: Number) -> ScheduleItem:
    """Go on from the next time after now."""
    return await _switch(call, schedule, True)


@routes.post("/schedules/{schedule}/disable", tag="schedules", summary="Switch a schedule off", scope="organise")
async def disable(call: RequestContext, schedule: Number) -> ScheduleItem:
    """Create no more tournaments; those created stay."""
    return await _switch(call, schedule, False)


async def _switch(call: RequestContext, schedule: int, is_enabled: bool) -> ScheduleItem:
    row = await call.run(services.schedule.switch, call.arena, schedule, is_enabled, call.user)
    return ScheduleItem.model_validate(row)
