"""Tournaments: lists, documents, tables, streams; one is made here. What moves them is in `steering`."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any, Literal

from aiohttp import web

from arena import services
from arena.api.page import Page, PageQuery, page
from arena.api.registry import Routes
from arena.api.routes.games import RECORDS, StreamQuery, export
from arena.api.schemas import (
    CrossCell,
    CrossRow,
    Crosstable,
    EntryItem,
    FamilyName,
    GameItem,
    Number,
    RulesItem,
    StandingItem,
    Standings,
    TournamentDocument,
    TournamentItem,
    TournamentState,
)
from arena.events.messages import Subject
from arena.http import stream
from arena.http.api_paths import PREFIX
from arena.http.broadcast import Batch
from arena.http.cache_control import CachePolicy
from arena.http.request_context import RequestContext, RouteResult
from arena.http.stream_line import FORMS, NDJSON, StreamLine
from arena.services.table import OVER, Table
from arena.store.game_filter import GameFilter
from arena.store.models import Tournament
from arena.tournaments.settings import Document
from arena.tournaments.standing import StandingLine
from referee.ratings.crosstable import Cell

routes = Routes()
_BATCH = 500


class TournamentQuery(PageQuery):
    """Which tournaments."""

    state: TournamentState | None = None
    family: FamilyName | None = None


class PlanQuery(PageQuery):
    """Which games of a tournament."""

    state: Literal["planned", "queued", "running", "finished", "void", "cancelled"] | None = None


async def found(call: RequestContext, tournament: int) -> Tournament:
    """The tournament of that number. Raises NotFoundError."""
    return await call.run(call.store.tournaments.get, tournament)


@routes.get("/tournaments", tag="tournaments", summary="All tournaments", example="/api/v1/tournaments?state=running")
async def list_tournaments(call: RequestContext, query: TournamentQuery) -> Page[TournamentItem]:
    """Tournaments, latest start first."""
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
async def create(call: RequestContext, body: Document) -> RouteResult[TournamentDocument]:
    """Store a tournament with its entries. It starts at its time, or at once."""
    document = body.model_dump(mode="json", exclude_unset=True)
    row = await call.run(services.tournament.create, call.arena, document, call.user)
    assert row.id is not None
    body_out = await call.run(document_of, call, await found(call, row.id))
    return RouteResult(body_out, status=201, headers={"Location": f"{PREFIX}/tournaments/{row.id}"}, is_private=True)


@routes.put(
    "/tournaments/{tournament}",
    tag="tournaments",
    summary="Change a tournament that has not begun",
    scope="organise",
    problems=("conflict",),
)
async def change(call: RequestContext, tournament: Number, body: Document) -> RouteResult[TournamentDocument]:
    """Another document in the place of its own, checked like a new one; its entries are chosen anew.

    Once it has begun it stays as it is: 409. Then it can be steered, extended, entered and left.
    """
    document = body.model_dump(mode="json", exclude_unset=True)
    await call.run(services.tournament.change, call.arena, tournament, document, call.user)
    return RouteResult(await call.run(document_of, call, await found(call, tournament)), is_private=True)


@routes.get("/tournaments/{tournament}", tag="tournaments", summary="A tournament", example="/api/v1/tournaments/1")
async def show(call: RequestContext, tournament: Number) -> RouteResult[TournamentDocument]:
    """A tournament with its settings, its entries, and its games counted by state."""
    row = await found(call, tournament)
    return RouteResult(await call.run(document_of, call, row), keep=_keep(row))


def _keep(row: Tournament) -> CachePolicy:
    """What is over stays as it is, unless it is extended."""
    return "settled" if row.state in OVER else "never"


def document_of(call: RequestContext, row: Tournament) -> TournamentDocument:
    """Reads the store: for a thread."""
    assert row.id is not None
    return TournamentDocument(
        **TournamentItem.model_validate(row).model_dump(),
        options=row.options,
        settings=row.settings,
        created=row.created,
        entries=[EntryItem.model_validate(line) for line in call.store.tournaments.entries(row.id)],
        games=call.store.games.counts(row.id),
    )


@routes.get(
    "/tournaments/{tournament}/games",
    tag="tournaments",
    summary="A tournament's games",
    forms=RECORDS,
    example="/api/v1/tournaments/1/games?state=finished",
    problems=("too-many",),
)
async def games(call: RequestContext, tournament: Number, query: PlanQuery) -> Page[GameItem] | web.StreamResponse:
    """The whole plan in its order, or the games in one state. As NDJSON or text it is an export of the records."""
    form = call.accepts("application/json", NDJSON, "text/plain")
    await found(call, tournament)
    if form != "application/json":
        return await export(call, form, GameFilter(tournament_id=tournament))
    rows = await call.run(
        lambda: call.store.games.of_tournament(tournament, state=query.state, limit=query.limit, after=query.after)
    )
    return page(rows, GameItem.model_validate)


@routes.get(
    "/tournaments/{tournament}/standings",
    tag="tournaments",
    summary="The standings",
    example="/api/v1/tournaments/1/standings",
)
async def show_standings(call: RequestContext, tournament: Number) -> RouteResult[Standings]:
    """Points and what decides between equal ones, as the format has it; final once the tournament is finished."""
    table = await call.run(services.table.read, call.arena, tournament)
    return RouteResult(_standings(table), keep=_keep(table.tournament))


def _standings(table: Table) -> Standings:
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


def _row(table: Table, line: StandingLine) -> dict[str, Any]:
    return {**line.as_json(), "score": line.score, "forfeits": table.forfeits[line.name]}


def _cross(table: Table, bot: str, rival: str, cell: Cell) -> CrossCell:
    found = CrossCell(opponent=rival, points=cell.points, games=cell.games, pairs=cell.pairs)
    figures = table.comparison.of(bot, rival) if table.comparison else None
    if figures:
        found.expected, found.superiority = round(figures.expected, 2), round(figures.superiority, 4)
    return found


@routes.get(
    "/tournaments/{tournament}/crosstable",
    tag="tournaments",
    summary="Everybody against everybody",
    example="/api/v1/tournaments/1/crosstable",
)
async def show_crosstable(call: RequestContext, tournament: Number) -> RouteResult[Crosstable]:
    """One row per bot in rank order, one cell per opponent in the same order, the games of an opening side by side."""
    table = await call.run(services.table.read, call.arena, tournament)
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
    summary="A tournament as it goes",
    forms=FORMS,
    problems=("too-many",),
)
async def watch(call: RequestContext, tournament: Number, query: StreamQuery) -> web.StreamResponse:
    """First the whole state with its standings, then every result with its `seq`, at last `final`.

    `seq` is the commit number of a result; changes of state repeat the last one. `after` goes on behind a `seq`.
    """
    await found(call, tournament)
    source = _TournamentSource(call, tournament)
    return await stream.follow(
        call, Subject("tournament", tournament), stream.resume_point(call, query.after), source.look
    )


class _TournamentSource:
    """What there is to say of a tournament after some `seq`; always from the database."""

    def __init__(self, call: RequestContext, tournament: int) -> None:
        self._call = call
        self._tournament = tournament
        self._told: object = None

    async def look(self, after: int | None, is_timeout: bool) -> Batch:
        """See `arena.http.broadcast.Source`."""
        return await self._call.run(self._look, after)

    def _look(self, after: int | None) -> Batch:
        store = self._call.store
        # The state is read before the results: when it says "over", all results are there.
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
            lines += [StreamLine("game", one.committed or 0, {"game": _told(one)}) for one in results]
            after = lines[-1].seq if lines else after
            if self._told is not None and self._told != row.state and not is_over:
                lines.append(StreamLine("tournament", after, {"tournament": told}))
            is_over = is_over and len(results) < _BATCH  # else there may be more results to tell
        self._told = row.state
        if is_over:
            table = self._table()
            lines.append(StreamLine("final", after, {"tournament": told, "standings": table}))
        return Batch(lines, is_final=is_over)

    def _table(self) -> list[dict[str, Any]]:
        # Through JSON, which knows no infinite Elo.
        text = _standings(services.table.read(self._call.arena, self._tournament)).model_dump_json()
        found: list[dict[str, Any]] = json.loads(text)["items"]
        return found


def _told(line: Any) -> dict[str, Any]:
    return GameItem.model_validate(line).model_dump(mode="json")
