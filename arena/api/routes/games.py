"""Games: lists, exports, details, records as files, streams, standard error of bots."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

from aiohttp import web

from arena import services
from arena.api.registry import GameId, Routes
from arena.collections.dumps import without_logs
from arena.documents.game import (
    GameItem,
    GameQuery,
    GameResponse,
    LogResponse,
    RatingStep,
    RecordQuery,
    StreamQuery,
)
from arena.documents.query import PageResponse
from arena.events.messages import Subject
from arena.http import stream
from arena.http.broadcast import FORMS, NDJSON, Batch, StreamLine
from arena.http.identity import presence
from arena.http.problem import Problem, as_json
from arena.http.request_context import RequestContext, RouteResult
from referee.game.record import GameRecord, Ply, read_record
from referee.game.record_text import write_text
from referee.rules.core import Side, UnknownNameError
from referee.validation import plain

routes = Routes()
TEXT = "text/plain"
RECORDS = {NDJSON: "one game record per line, in commit order", TEXT: "game records as text with tags, in commit order"}
ATTEMPT = 1_000_000
"""Offset of `seq` per attempt: the first attempt counts plies from 1, the second from 1,000,001, and so on."""
_CHUNK = 100


@routes.get(
    "/games",
    tag="games",
    summary="List results",
    forms=RECORDS,
    example="/api/v1/games?family=loa&limit=5",
    problems=("not-found",),
)
async def list_games(call: RequestContext, query: GameQuery) -> PageResponse[GameItem] | web.StreamResponse:
    """List results, latest first. With `Accept: application/x-ndjson` or `text/plain` the response is an export
    instead.

    An export contains all games that match the filters, oldest first, and ignores `limit` and `after`.
    """
    form = call.accepts("application/json", NDJSON, TEXT)
    if form != "application/json":
        for name in ("after", "limit", "order", "sort"):
            if name in call.request.query:
                raise Problem(
                    "invalid",
                    f"invalid parameter {name}: an export has no pages and a fixed order",
                    field=name,
                    hint="remove it",
                )
        return await export(call, form, query)
    return await call.run(services.game.search, call.arena, query)


async def export(call: RequestContext, form: str, query: GameQuery) -> web.StreamResponse:
    """Stream all matching records as a file. Raises NotFoundError."""
    words = [f"tournament-{query.tournament}" if query.tournament else "", query.family or ""]
    name = "-".join(filter(None, words)) or "games"
    lines = await call.run(services.game.records, call.arena, query)
    return await stream.export(call, form, name + (".ndjson" if form == NDJSON else ".txt"), _chunks(lines, form))


async def _chunks(lines: Iterator[bytes], form: str) -> AsyncIterator[bytes]:
    while chunk := await asyncio.to_thread(_chunk, lines, form):
        yield chunk


def _chunk(lines: Iterator[bytes], form: str) -> bytes:
    """Return the next hundred records as bytes, empty at the end."""
    parts = []
    for line in lines:
        data = without_logs(json.loads(line))
        text = as_json(data)
        parts.append(text + "\n" if form == NDJSON else write_text(read_record(text)))
        if len(parts) >= _CHUNK:
            break
    return "".join(parts).encode()


@routes.get("/games/{game}", tag="games", summary="Get a game")
async def show(call: RequestContext, game: GameId) -> RouteResult[GameResponse]:
    """Return a game with its spec and, once it is over, its record and rating changes."""
    found = await call.run(services.game.read, call.arena, game)
    return RouteResult(_document(found), keep="immutable" if found.line.is_over else "never")


def _document(details: services.game.GameDetails) -> GameResponse:
    line, record = details.line, details.record
    names = {line.first_id: line.first, line.second_id: line.second}
    steps = [
        RatingStep(names[version], step.mu_before, step.sigma_before, step.mu, step.sigma)
        for version, step in details.changes.items()
    ]
    return GameResponse(
        id=line.id,
        tournament_id=line.tournament_id,
        sequence=line.sequence,
        round=line.round,
        pair=line.pair,
        family=line.family,
        pool=line.pool,
        variant=line.variant,
        first=line.first,
        second=line.second,
        is_rated=line.is_rated,
        meeting=line.meeting,
        anchor=line.anchor,
        state=line.state,
        attempt=line.attempt,
        started_at=line.started_at,
        finished_at=line.finished_at,
        commit_number=line.commit_number,
        winner=line.winner,
        termination=line.termination,
        termination_class=line.termination_class,
        detail=line.detail,
        plies=line.plies,
        first_id=line.first_id,
        second_id=line.second_id,
        lease_owner=line.lease_owner,
        spec=public_spec(details.spec.as_json()),
        record=without_logs(record.as_json()) if record else None,
        ratings=steps,
        unrated=details.unrated,
    )


def public_spec(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a spec without the bots' commands and folders, as everyone may see it."""
    for side in ("first", "second"):
        bot = spec[side]
        spec[side] = {name: bot[name] for name in ("name", "version", "options", "time") if name in bot}
    return spec


def _in_notation(found: GameRecord, name: str) -> str:
    from arena.collections.notation import write_record

    try:
        return write_record(found, name)
    except UnknownNameError as error:
        raise Problem("invalid", str(error), field="notation", hint="use a notation of the family") from None


@routes.get(
    "/games/{game}/record",
    tag="games",
    summary="Download a game record",
    forms={NDJSON: "the record on one line", TEXT: "the record as text with tags, or the game in `notation`"},
    problems=("conflict",),
)
async def record(call: RequestContext, game: GameId, query: RecordQuery) -> web.StreamResponse:
    """Return the record alone, as JSON or text by `Accept`. You get 409 while the game is running.

    With `notation`, the text is in a notation of the family, such as `aba-pro`. Such a text has the marks of
    the game's analysis, but no times.
    """
    form = TEXT if query.notation else call.accepts("application/json", NDJSON, TEXT)
    line = await call.run(services.game.find, call.arena, game)
    record = await call.run(services.game.record_of, call.arena, game)
    if record is None:
        raise Problem("conflict", f"game {game} has no record yet", state=line.state, hint="follow its stream")
    if query.notation:
        record = await call.run(services.analysis.annotated, call.arena, record)
    data = without_logs(record.as_json())
    text = as_json(data)
    if query.notation:
        text = await call.run(_in_notation, record, query.notation)
    elif form == TEXT:
        text = await call.run(lambda: write_text(read_record(text)))
    from arena.http import response_cache

    name = f"{game}.{'txt' if form == TEXT else 'json'}"
    body = text.encode() + (b"" if form == TEXT else b"\n")
    response = response_cache.respond(
        call.request,
        body,
        status=200,
        keep="never" if query.notation else "immutable",
        is_private=False,
        content_type=f"{form}; charset=utf-8",
    )
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@routes.get("/games/{game}/logs/{side}", tag="games", summary="Get a bot's standard error", scope="read")
async def log(call: RequestContext, game: GameId, side: Side) -> RouteResult[LogResponse]:
    """Return the tail of a bot's standard error, for its owner, organisers and admins."""
    found = await call.run(services.game.read_log, call.arena, game, side, call.user)
    return RouteResult(found, keep="never", is_private=True)


@routes.get(
    "/games/{game}/stream",
    tag="games",
    summary="Stream a game",
    forms=FORMS,
    problems=("too-many",),
)
async def watch(call: RequestContext, game: GameId, query: StreamQuery) -> web.StreamResponse:
    """Stream the whole state of a game, then every ply with its `seq`, then `final`. Pass `after` to resume after a
    `seq`.

    `seq` is the number of the ply, plus 1,000,000 for each time that the game was restarted.
    """
    await call.run(services.game.find, call.arena, game)
    source = _GameSource(call, game)
    async with presence(call, game):
        return await stream.follow(call, Subject("game", game), stream.resume_point(call, query.after), source.look)


class _GameSource:
    """Source of the stream of a game: memory while the game runs, the database once it is over."""

    def __init__(self, call: RequestContext, game: str) -> None:
        self._call = call
        self._game = game
        self._line: GameItem | None = None

    async def look(self, after: int | None, is_timeout: bool) -> Batch:
        """Return the events after `after`; see `arena.http.broadcast.Source`."""
        live = self._call.context.live.games.get(self._game)
        if self._line is None or live is None or is_timeout or live.attempt != self._line.attempt:
            self._line = await self._call.run(services.game.find, self._call.arena, self._game)
        line = self._line
        if line.is_over:
            return await self._over(line, after)
        live = self._call.context.live.of(line)
        attempt = live.attempt if live else max(1, line.attempt)
        plies = list(live.plies) if live else []
        base = (attempt - 1) * ATTEMPT
        if after is None or not base <= after <= base + len(plies):
            return Batch([await self._state(line, base + len(plies), plies)])
        return Batch([_ply(base, number, plies[number - 1]) for number in range(after - base + 1, len(plies) + 1)])

    async def _over(self, line: GameItem, after: int | None) -> Batch:
        record = await self._record()
        base = (max(1, line.attempt) - 1) * ATTEMPT
        plies = record.plies_with_moves if record else []
        last = base + len(plies)
        final = StreamLine("final", last + 1, {"game": plain(line)})
        if after is None or not base <= after <= last + 1:
            return Batch([await self._state(line, last, plies), final], is_final=True)
        lines = [_ply(base, number, plies[number - 1]) for number in range(after - base + 1, len(plies) + 1)]
        return Batch([*lines, final], is_final=True)

    async def _record(self) -> GameRecord | None:
        return await self._call.run(services.game.record_of, self._call.arena, self._game)

    async def _state(self, line: GameItem, seq: int, plies: list[Ply]) -> StreamLine:
        spec = await self._call.run(services.game.spec_of, self._call.arena, line.id)
        record = await self._record() if line.is_over else None
        data = {
            "game": plain(line),
            "position": record.position if record else spec.position,
            "plies": [{"ply": number, **ply.told()} for number, ply in enumerate(plies, 1)],
        }
        return StreamLine("state", seq, data)


def _ply(base: int, number: int, ply: Ply) -> StreamLine:
    return StreamLine("ply", base + number, {"ply": number, **ply.told()})
