"""Tournaments: lists, details, tables, streams, creation. Actions on them are in `steering`."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any, Literal

from aiohttp import web

from arena import services
from arena.api.page import PageQuery, page
from arena.api.registry import Routes
from arena.api.routes.games import RECORDS, export
from arena.api.schemas import (
    CrossCell,
    CrossRow,
    Crosstable,
    EntryItem,
    FamilyName,
    Number,
    RulesItem,
    StandingItem,
    Standings,
    TournamentItem,
    TournamentResponse,
    TournamentState,
)
from arena.documents.game import GameItem, GameQuery, StreamQuery
from arena.documents.page import PageResponse
from arena.events.messages import Subject
from arena.http import stream
from arena.http.api_paths import PREFIX
from arena.http.broadcast import Batch
from arena.http.cache_control import CachePolicy
from arena.http.request_context import RequestContext, RouteResult
from arena.http.stream_line import FORMS, NDJSON, StreamLine
from arena.services.standings_cache import OVER, TournamentStandings
from arena.store.base.models import Tournament
from arena.tournaments.settings import Document
from arena.tournaments.standing import StandingLine
from arena.validation import plain
from referee.ratings.crosstable import CrosstableCell

routes = Routes()
_BATCH = 500


class TournamentQuery(PageQuery):
    """Filters of tournaments."""

    state: TournamentState | None = None
    family: FamilyName | None = None


class PlanQuery(PageQuery):
    """Filters of a tournament's games."""

    state: Literal["planned", "queued", "running", "finished", "void", "cancelled"] | None = None


async def found(call: RequestContext, tournament: int) -> Tournament:
    """Return a tournament by number. Raises NotFoundError."""
    return await call.run(call.store.tournaments.get, tournament)


@routes.get("/tournaments", tag="tournaments", summary="List tournaments", example="/api/v1/tournaments?state=running")
async def list_tournaments(call: RequestContext, query: TournamentQuery) -> PageResponse[TournamentItem]:
    """List tournaments, latest start first."""
    rows = await call.run(
        lambda: call.store.tournaments.page(
            state=query.state, family=query.family, limit=query.limit, after=query.after
        )
    )
    return page(rows, TournamentItem.model_validate)


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
    assert row.id is not None
    body_out = await call.run(document_of, call, await found(call, row.id))
    return RouteResult(body_out, status=201, headers={"Location": f"{PREFIX}/tournaments/{row.id}"}, is_private=True)


@routes.put(
    "/tournaments/{tournament}",
    tag="tournaments",
    summary="Change a tournament that has not started",
    scope="organise",
    problems=("conflict",),
)
async def change(call: RequestContext, tournament: Number, body: Document) -> RouteResult[TournamentResponse]:
    """Replace the document of a tournament that has not started. It is checked like a new one; entries are chosen
    again.

    You get 409 once it has started. You can then pause, resume or extend it, and enter or withdraw versions.
    """
    document = body.model_dump(mode="json", exclude_unset=True)
    await call.run(services.tournament.change, call.arena, tournament, document, call.user)
    return RouteResult(await call.run(document_of, call, await found(call, tournament)), is_private=True)


@routes.get("/tournaments/{tournament}", tag="tournaments", summary="Get a tournament", example="/api/v1/tournaments/1")
async def show(call: RequestContext, tournament: Number) -> RouteResult[TournamentResponse]:
    """Return a tournament with its settings, its entries, and its games counted by state."""
    row = await found(call, tournament)
    return RouteResult(await call.run(document_of, call, row), keep=_keep(row))


def _keep(row: Tournament) -> CachePolicy:
    """Return the caching rule: a tournament that is over changes only if it is extended."""
    return "settled" if row.state in OVER else "never"


def document_of(call: RequestContext, row: Tournament) -> TournamentResponse:
    """Convert a tournament to its schema. Call it in a thread: it reads the store."""
    assert row.id is not None
    return TournamentResponse(
        **TournamentItem.model_validate(row).model_dump(),
        options=row.options,
        settings=row.settings,
        created_at=row.created_at,
        entries=[EntryItem.model_validate(line) for line in call.store.tournaments.entries(row.id)],
        games=call.store.games.counts(row.id),
    )


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
    await found(call, tournament)
    if form != "application/json":
        return await export(call, form, GameQuery(tournament=tournament))
    rows = await call.run(
        lambda: call.store.games.of_tournament(tournament, state=query.state, limit=query.limit, after=query.after)
    )
    return rows


@routes.get(
    "/tournaments/{tournament}/standings",
    tag="tournaments",
    summary="Get the standings",
    example="/api/v1/tournaments/1/standings",
)
async def show_standings(call: RequestContext, tournament: Number) -> RouteResult[Standings]:
    """Return points and tie-breaks of the format. The standings are final once the tournament is finished."""
    table = await call.run(services.standings.read, call.arena, tournament)
    return RouteResult(_standings(table), keep=_keep(table.tournament))


def _standings(table: TournamentStandings) -> Standings:
    found = table.standing
    return Standings(
        items=[StandingItem(**_row(table, line)) for line in found.lines],
        is_final=table.is_final,
        tie_breaks=list(found.tie_breaks),
        strengths=found.strengths_as_json(),
        verdict=found.verdict.as_json() if found.verdict else None,
        race=found.race.as_json(found.seats) if found.race else None,
        rules=[RulesItem(**asdict(line)) for line in table.rules],
        findings=table.findings,
    )


def _row(table: TournamentStandings, line: StandingLine) -> dict[str, Any]:
    return {**line.as_json(), "score": line.score, "forfeits": table.forfeits[line.name]}


def _cross(table: TournamentStandings, bot: str, rival: str, cell: CrosstableCell) -> CrossCell:
    found = CrossCell(opponent=rival, points=cell.points, games=cell.games, pairs=cell.pairs)
    figures = table.comparison.of(bot, rival) if table.comparison else None
    if figures:
        found.expected, found.superiority = round(figures.expected, 2), round(figures.superiority, 4)
    return found


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
    names = [line.name for line in table.standing.lines]
    items = []
    for line, row in zip(table.standing.lines, table.rows, strict=True):
        cells = [
            None if cell is None else _cross(table, line.name, name, cell)
            for name, cell in zip(names, row.cells, strict=True)
        ]
        items.append(CrossRow(**_row(table, line), cells=cells))
    body = Crosstable(items=items, tournament=tournament, is_final=table.is_final)
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
    """Stream the whole state with its standings, then every result with its `seq`, then `final`.

    `seq` is the commit number of a result; changes of state repeat the last one. Pass `after` to resume after a `seq`.
    """
    await found(call, tournament)
    source = _TournamentSource(call, tournament)
    return await stream.follow(
        call, Subject("tournament", tournament), stream.resume_point(call, query.after), source.look
    )


class _TournamentSource:
    """Stream source of a tournament: the database."""

    def __init__(self, call: RequestContext, tournament: int) -> None:
        self._call = call
        self._tournament = tournament
        self._told: object = None

    async def look(self, after: int | None, is_timeout: bool) -> Batch:
        """Return the events after `after`; see `arena.http.broadcast.Source`."""
        return await self._call.run(self._look, after)

    def _look(self, after: int | None) -> Batch:
        store = self._call.store
        # Read the state before the results: when it is final, all results have been committed.
        row = store.tournaments.get(self._tournament)
        told = TournamentItem.model_validate(row).model_dump(mode="json")
        is_over = row.state in OVER
        lines: list[StreamLine] = []
        if after is None:
            after = store.results.last_commit_of(self._tournament)
            table = self._table()
            lines.append(StreamLine("state", after, {"tournament": told, "standings": table}))
        else:
            results = store.results.committed(self._tournament, after, _BATCH)
            lines += [StreamLine("game", one.commit_number or 0, {"game": plain(one)}) for one in results]
            after = lines[-1].seq if lines else after
            if self._told is not None and self._told != row.state and not is_over:
                lines.append(StreamLine("tournament", after, {"tournament": told}))
            is_over = is_over and len(results) < _BATCH  # otherwise there may be more results to send
        self._told = row.state
        if is_over:
            table = self._table()
            lines.append(StreamLine("final", after, {"tournament": told, "standings": table}))
        return Batch(lines, is_final=is_over)

    def _table(self) -> list[dict[str, Any]]:
        # Serialise to JSON, which has no infinite Elo.
        text = _standings(services.standings.read(self._call.arena, self._tournament)).model_dump_json()
        found: list[dict[str, Any]] = json.loads(text)["items"]
        return found
