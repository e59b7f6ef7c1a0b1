"""The service: index, limits, failed games, audit log, dumps, the coordinator."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from arena import services
from arena.api.handle import MAX_BODY_BYTES
from arena.api.registry import Routes
from arena.collections.dumps import Dump, Dumps
from arena.documents.account import AuditItem
from arena.documents.query import MAX_LIMIT, PageQuery, PageResponse
from arena.documents.service import AuditQuery, Referee, VoidItem
from arena.http.problem import DOCS, PREFIX, VERSION
from arena.http.request_context import RequestContext, RouteResult
from referee.meaning import meaning
from referee.ratings.trueskill import PROVISIONAL_GAMES, PROVISIONAL_SIGMA

routes = Routes()


@dataclass(frozen=True, slots=True)
class LimitsResponse:
    """The limits of this server. Requests are counted across all web processes."""

    max_upload_bytes: int = field(metadata=meaning("size of an uploaded bot"))
    max_bots: int = field(metadata=meaning("unretired bots of a user"))
    max_versions: int = field(metadata=meaning("unretired versions of a user"))
    max_user_bytes: int = field(metadata=meaning("total size of the bundles of a user's unretired versions"))
    max_body_bytes: int = field(metadata=meaning("size of a JSON body"))
    max_page: int = field(metadata=meaning("items in a part of a list: the largest `limit`"))
    requests_per_minute: dict[str, float] = field(
        metadata=meaning("of a user, or of an address without a token, by kind of request")
    )
    streams: int = field(metadata=meaning("open event streams of a client"))
    exports: int = field(metadata=meaning("simultaneous exports of a client"))
    provisional_games: int = field(metadata=meaning("a rating of fewer games is provisional"))
    provisional_sigma: float = field(metadata=meaning("a rating with a larger sigma is provisional"))


@dataclass(frozen=True, slots=True)
class Index:
    """Addresses of the interface."""

    openapi: str = field(metadata=meaning("path of the OpenAPI document"))
    docs: str = field(metadata=meaning("path of its page for people"))
    version: str = field(metadata=meaning("version of the interface, not of the program"))
    lists: dict[str, str] = field(metadata=meaning("paths by name"))


@dataclass(frozen=True, slots=True)
class DumpItem(Dump):
    """A dump of games. `first` and `last` are the commit numbers of its first and last result."""

    url: str = field(metadata=meaning("path of the file"))


@dataclass(frozen=True, slots=True, kw_only=True)
class DumpList(PageResponse[DumpItem]):
    """The monthly dumps of games, with every result up to the one with the commit number `through`."""

    items: list[DumpItem] = field(metadata=meaning("latest month first"))
    licence: str = field(metadata=meaning("licence of the dumps, as set by the operator"))
    through: int
    written: datetime | None = field(metadata=meaning("when the dumps were last written; null: never"))


@routes.get("", tag="service", summary="Get the index of the interface", example="/api/v1")
async def index(call: RequestContext) -> Index:
    """Return the addresses of the OpenAPI document, its documentation pages and all lists."""
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
            **{name: limiter.rate.per_minute for name, limiter in context.limiters.items()},
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

    `lease_owner` is an anonymous identifier of the coordinator's process. Organisers get the process's name, which
    contains the host name.
    """
    return RouteResult(await call.run(services.status.coordinator, call.arena, call.identity), keep="never")


@routes.get("/voids", tag="service", summary="List void games", example="/api/v1/voids")
async def voids(call: RequestContext, query: PageQuery) -> PageResponse[VoidItem]:
    """List void attempts at games, latest first. They are unrated; a game gets a limited number of attempts."""
    return await call.run(services.game.voids, call.arena, call.identity, query)


@routes.get("/dumps", tag="service", summary="List dumps of games", example="/api/v1/dumps")
async def dumps(call: RequestContext) -> DumpList:
    """List the monthly dumps of all results, written daily. All numbers of the leaderboards can be computed from them.

    A file is zstd-compressed NDJSON: a header with its licence, then one game record per line. Each record also has
    `commit_number` (the order in which ratings are computed), `pool`, `is_rated`, `follows` (a player's earlier
    versions), and the `meeting` and `anchor` of a game whose opponent a player chose.
    """
    archive = Dumps.of(call.context.settings)
    dump_index = await call.run(archive.current)
    items = [
        DumpItem(
            file=dump.file,
            month=dump.month,
            games=dump.games,
            bytes=dump.bytes,
            sha256=dump.sha256,
            first=dump.first,
            last=dump.last,
            url=f"/dumps/{dump.file}",
        )
        for dump in dump_index.latest_first
    ]
    written = datetime.fromisoformat(dump_index.written) if dump_index.written else None
    return DumpList(items=items, licence=archive.licence, through=dump_index.through, written=written)


@routes.get("/audit", tag="service", summary="List the audit log", scope="admin", example="/api/v1/audit")
async def audit(call: RequestContext, query: AuditQuery) -> PageResponse[AuditItem]:
    """List the audit log, latest first."""
    return await call.run(services.status.audit, call.arena, query)
