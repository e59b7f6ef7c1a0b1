"""Tournaments: lists, details, tables, streams, creation. Actions on them are in `steering`."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from arena import services
from arena.api.registry import Number, Routes
from arena.api.routes.games import RECORDS, export
from arena.documents.game import GameItem, GameQuery, StreamQuery
from arena.documents.query import PageResponse
from arena.documents.standings import Crosstable, Standings
from arena.documents.tournament import PlanQuery, TournamentItem, TournamentQuery, TournamentResponse
from arena.events.messages import Subject
from arena.http import stream
from arena.http.broadcast import FORMS, NDJSON, Batch, StreamLine
from arena.http.kept_files import crosstable_file
from arena.http.problem import PREFIX
from arena.http.request_context import RequestContext, RouteResult
from arena.http.response_cache import CachePolicy
from referee.tournament.document import Document
from referee.validation import plain

routes = Routes()
_BATCH = 500


@routes.get("/tournaments", tag="tournaments", summary="List tournaments", example="/api/v1/tournaments?state=running")
async def list_tournaments(call: RequestContext, query: TournamentQuery) -> PageResponse[TournamentItem]:
    """List tournaments, latest start first."""
    return await call.run(services.tournament.page, call.arena, query)


@routes.post(
    "/tournaments",
    tag="tournaments",
    summary="Create a tournament",
    scope="organise",
    status=201,
    is_idempotent=True,
    problems=("conflict",),
    example="""/api/v1/tournaments -d '{"name": "Open", "family": "loa", "entries": {"bots": ["greedy", "random"]}}'""",
)
async def create(call: RequestContext, body: Document) -> RouteResult[TournamentResponse]:
    """Create a tournament with its entries. It starts at its start time, by default at once."""
    document = body.model_dump(mode="json", exclude_unset=True)
    row = await call.run(services.tournament.create, call.arena, document, call.user)
    found = await call.run(services.tournament.show, call.arena, row.id)
    return RouteResult(found, status=201, headers={"Location": f"{PREFIX}/tournaments/{row.id}"}, is_private=True)


@routes.put(
    "/tournaments/{tournament}",
    tag="tournaments",
    summary="Change a tournament that has not started",
    scope="organise",
    problems=("conflict",),
)
async def change(call: RequestContext, tournament: Number, body: Document) -> RouteResult[TournamentResponse]:
    """Replace the settings of a tournament that has not started. They are checked like those of a new one; entries are
    chosen again.

    You get 409 once it has started. You can then pause, resume or extend it, and enter or withdraw versions.
    """
    document = body.model_dump(mode="json", exclude_unset=True)
    await call.run(services.tournament.change, call.arena, tournament, document, call.user)
    return RouteResult(await call.run(services.tournament.show, call.arena, tournament), is_private=True)


@routes.get("/tournaments/{tournament}", tag="tournaments", summary="Get a tournament", example="/api/v1/tournaments/1")
async def show(call: RequestContext, tournament: Number) -> RouteResult[TournamentResponse]:
    """Return a tournament with its settings, its entries, and its games counted by state."""
    found = await call.run(services.tournament.show, call.arena, tournament)
    return RouteResult(found, keep=_keep(found))


def _keep(tournament: TournamentItem) -> CachePolicy:
    """Return the caching rule: a tournament that is over changes only if it is extended."""
    return "settled" if tournament.is_over else "never"


@routes.get(
    "/tournaments/{tournament}/games",
    tag="tournaments",
    summary="List a tournament's games",
    forms=RECORDS,
    example="/api/v1/tournaments/1/games?state=finished",
    problems=("too-many",),
)
async def games(
    call: RequestContext, tournament: Number, query: PlanQuery
) -> PageResponse[GameItem] | web.StreamResponse:
    """List all planned games in order, or the games in one state. As NDJSON or text, the response is an export of the
    records.
    """
    form = call.accepts("application/json", NDJSON, "text/plain")
    if form == "application/json":
        return await call.run(services.tournament.games, call.arena, tournament, query)
    await call.run(services.tournament.get, call.arena, tournament)
    return await export(call, form, GameQuery(tournament=tournament))


@routes.get(
    "/tournaments/{tournament}/standings",
    tag="tournaments",
    summary="Get the standings",
    example="/api/v1/tournaments/1/standings",
)
async def show_standings(call: RequestContext, tournament: Number) -> RouteResult[Standings]:
    """Return the standings: points and the tie-breaks of the format. They are final once the tournament is finished."""
    row, found = await call.run(services.standings.show, call.arena, tournament)
    return RouteResult(found, keep=_keep(row))


@routes.get(
    "/tournaments/{tournament}/crosstable",
    tag="tournaments",
    summary="Get the crosstable",
    example="/api/v1/tournaments/1/crosstable",
)
async def show_crosstable(call: RequestContext, tournament: Number) -> RouteResult[Crosstable]:
    """Return one row per bot in rank order, with one cell per opponent in the same order. The two games of an opening
    are adjacent.
    """
    table = await call.run(services.standings.read, call.arena, tournament)
    body = await crosstable_file(call.request, table, services.standings.json_of)
    return RouteResult(body, keep=_keep(table.tournament))


# -- stream ------------------------------------------------------------------------------------------------------------


@routes.get(
    "/tournaments/{tournament}/stream",
    tag="tournaments",
    summary="Stream a tournament",
    forms=FORMS,
    problems=("too-many",),
)
async def watch(call: RequestContext, tournament: Number, query: StreamQuery) -> web.StreamResponse:
    """Stream the whole state of a tournament with its standings, then every result with its `seq`, then `final`.

    `seq` is the commit number of a result; the event of a change of state repeats the last `seq`. Pass `after` to
    resume after a `seq`.
    """
    await call.run(services.tournament.get, call.arena, tournament)
    source = _TournamentSource(call, tournament)
    return await stream.follow(
        call, Subject("tournament", tournament), stream.resume_point(call, query.after), source.look
    )


class _TournamentSource:
    """Source of the stream of a tournament: the database."""

    def __init__(self, call: RequestContext, tournament: int) -> None:
        self._call = call
        self._tournament = tournament
        self._told: object = None

    async def look(self, after: int | None, is_timeout: bool) -> Batch:
        """Return the events after `after`; see `arena.http.broadcast.Source`."""
        return await self._call.run(self._look, after)

    def _look(self, after: int | None) -> Batch:
        news = services.tournament.news(self._call.arena, self._tournament, after, _BATCH)
        row = news.tournament
        told = plain(row)
        lines: list[StreamLine] = []
        if after is None:
            lines.append(StreamLine("state", news.commit_number, {"tournament": told, "standings": self._table()}))
        else:
            lines += [StreamLine("game", game.commit_number or 0, {"game": plain(game)}) for game in news.results]
            if self._told is not None and self._told != row.state and not row.is_over:
                lines.append(StreamLine("tournament", news.commit_number, {"tournament": told}))
        is_over = row.is_over and len(news.results) < _BATCH  # otherwise there may be more results to send
        self._told = row.state
        if is_over:
            lines.append(StreamLine("final", news.commit_number, {"tournament": told, "standings": self._table()}))
        return Batch(lines, is_final=is_over)

    def _table(self) -> list[Any]:
        _, standings = services.standings.show(self._call.arena, self._tournament)
        return [plain(line) for line in standings.items]
