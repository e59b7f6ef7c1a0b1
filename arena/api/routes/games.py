"""Games: lists, exports, details, records as files, streams, standard error of bots."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from typing import Annotated, Any, Literal

from aiohttp import web
from pydantic import Field

from arena import services
from arena.api.page import PageQuery, page
from arena.api.registry import Routes
from arena.api.schemas import (
    BotName,
    FamilyName,
    GameId,
    GameItem,
    GameResponse,
    In,
    LogResponse,
    Moment,
    Number,
    PoolName,
    RatingStep,
    Side,
    VariantName,
)
from arena.collections.dump import without_logs
from arena.documents.page import PageResponse
from arena.events.messages import PlyPayload, Subject
from arena.http import stream
from arena.http.broadcast import Batch
from arena.http.json_text import as_json
from arena.http.problem import Problem
from arena.http.request_context import RequestContext, RouteResult
from arena.http.stream_line import FORMS, NDJSON, StreamLine
from arena.services.game import OVER
from arena.store.games.analyses import AnalysisFilter
from arena.store.games.game_filter import GameFilter
from arena.store.games.games import GameLine
from referee.game.record import GameRecord, read_record
from referee.game.record_text import write_text
from referee.rules.core import UnknownNameError

routes = Routes()
TEXT = "text/plain"
RECORDS = {NDJSON: "one game record per line, in commit order", TEXT: "game records as text with tags, in commit order"}
ATTEMPT = 1_000_000
"""Offset of `seq` per attempt: the first attempt counts plies from 1, the second from 1,000,001, and so on."""
_CHUNK = 100


_Count = Annotated[int, Field(ge=0, le=10_000)]
_Share = Annotated[int, Field(ge=0, le=100)]


class GameQuery(PageQuery):
    """Filters of games. `bot` may have either side; `since` and `until` (exclusive) refer to the end of a game, in UTC.

    `blunders`, `accuracy` (of the less accurate side) and `min_turning_points` are lower bounds, `max_blunders` and
    `max_accuracy` upper bounds. `blown_win` selects games in which a side reached a winning position and did not win.
    These filters, and sorting by these figures, leave out games without an analysis. `order` applies to these sorts.
    """

    tournament: Number | None = None
    family: FamilyName | None = None
    variant: VariantName | None = None
    pool: PoolName | None = None
    bot: BotName | None = None
    termination_class: Literal["rules", "adjudication", "forfeit"] | None = None
    since: Moment | None = None
    until: Moment | None = None
    blunders: _Count | None = None
    max_blunders: _Count | None = None
    accuracy: _Share | None = None
    max_accuracy: _Share | None = None
    min_turning_points: _Count | None = None
    blown_win: Literal["yes", "no"] | None = None
    sort: Literal["latest", "blunders", "accuracy", "first_accuracy", "second_accuracy", "turning_points"] = "latest"
    order: Literal["falling", "rising"] = "falling"


class StreamQuery(In):
    """The point to resume from: after the event with this `seq`."""

    after: Annotated[int, Field(ge=0, le=10**15)] | None = None


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
    filters = await _filters(call, query)
    if form != "application/json":
        if paging := query.model_fields_set & {"limit", "after", "sort", "order"}:
            name = min(paging)
            raise Problem(
                "invalid",
                f"invalid parameter {name}: an export has no pages and a fixed order",
                field=name,
                hint="remove it",
            )
        return await export(call, form, filters)
    games, limit, after = call.store.games, query.limit, query.after
    if query.sort == "latest":
        rows = await call.run(lambda: games.latest(limit=limit, after=after, **filters))
    else:
        falls = query.order == "falling"
        rows = await call.run(
            lambda: games.by_figure(query.sort, is_falling=falls, limit=limit, after=after, **filters)
        )
    return page(rows, GameItem.model_validate)


async def _filters(call: RequestContext, query: GameQuery) -> GameFilter:
    """Return the filters for the store. Raises Problem for an unknown tournament or bot."""
    versions = None
    if query.tournament is not None:
        await call.run(call.store.tournaments.get, query.tournament)
    if query.bot is not None:
        bot = await call.run(services.bot.find, call.arena, query.bot)
        versions = [line.id for line in await call.run(call.store.versions.of_bot, bot.id or 0)]
    return GameFilter(
        tournament_id=query.tournament,
        family=query.family,
        variant=query.variant,
        pool=query.pool,
        termination_class=query.termination_class,
        versions=versions,
        since=query.since,
        until=query.until,
        analysed=AnalysisFilter(
            min_blunders=query.blunders,
            max_blunders=query.max_blunders,
            min_accuracy=query.accuracy,
            max_accuracy=query.max_accuracy,
            min_turning_points=query.min_turning_points,
            has_blown_win=query.blown_win == "yes" if query.blown_win else None,
        )
        or None,
    )


async def export(call: RequestContext, form: str, filters: GameFilter) -> web.StreamResponse:
    """Stream all matching records as a file."""
    words = [
        f"tournament-{filters['tournament_id']}" if filters.get("tournament_id") else "",
        filters.get("family") or "",
    ]
    name = "-".join(filter(None, words)) or "games"
    lines = call.store.results.records(**filters)
    return await stream.export(call, form, name + (".ndjson" if form == NDJSON else ".txt"), _chunks(lines, form))


async def _chunks(lines: Iterator[tuple[int, bytes]], form: str) -> AsyncIterator[bytes]:
    while chunk := await asyncio.to_thread(_chunk, lines, form):
        yield chunk


def _chunk(lines: Iterator[tuple[int, bytes]], form: str) -> bytes:
    """Return the next hundred records as bytes, empty at the end."""
    parts = []
    for _, line in lines:
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
    return RouteResult(_document(found), keep="immutable" if found.line.state in OVER else "never")


def _document(found: services.game.GameDetails) -> GameResponse:
    line, record = found.line, found.record
    names = {line.first_id: line.first, line.second_id: line.second}
    return GameResponse(
        **GameItem.model_validate(line).model_dump(),
        spec=public_spec(found.spec.as_json()),
        record=without_logs(record.as_json()) if record else None,
        ratings=[
            RatingStep(
                name=names[version],
                mu_before=step.mu_before,
                sigma_before=step.sigma_before,
                mu=step.mu,
                sigma=step.sigma,
            )
            for version, step in found.changes.items()
        ],
    )


def public_spec(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a spec without the bots' commands and folders, as everyone may see it."""
    for side in ("first", "second"):
        bot = spec[side]
        spec[side] = {name: bot[name] for name in ("name", "version", "options", "time") if name in bot}
    return spec


class RecordQuery(In):
    """The notation of the game's family, see `arena rules list --json`."""

    notation: Annotated[str, Field(min_length=1, max_length=40)] | None = None


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

    With `notation`, the text is in a notation of the family, such as `aba-pro`. It has no times, but the marks of the
    game's analysis.
    """
    form = TEXT if query.notation else call.accepts("application/json", NDJSON, TEXT)
    line = await call.run(call.store.games.get, game)
    found = await call.run(services.game.record_of, call.arena, game)
    if found is None:
        raise Problem("conflict", f"game {game} has no record yet", state=line.state, hint="follow its stream")
    if query.notation:
        found = await call.run(services.analysis.annotated, call.arena, found)
    data = without_logs(found.as_json())
    text = as_json(data)
    if query.notation:
        text = await call.run(_in_notation, found, query.notation)
    elif form == TEXT:
        text = await call.run(lambda: write_text(read_record(text)))
    from arena.http import cache_control

    name = f"{game}.{'txt' if form == TEXT else 'json'}"
    body = text.encode() + (b"" if form == TEXT else b"\n")
    response = cache_control.respond(
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
    line, text = await call.run(services.game.read_log, call.arena, game, side, call.user)
    name = line.first if side == "first" else line.second
    body = LogResponse(game_id=game, side=side, name=name, log=text)
    return RouteResult(body, keep="never", is_private=True)


@routes.get(
    "/games/{game}/stream",
    tag="games",
    summary="Stream a game",
    forms=FORMS,
    problems=("too-many",),
)
async def watch(call: RequestContext, game: GameId, query: StreamQuery) -> web.StreamResponse:
    """Stream the whole state, then every ply with its `seq`, then `final`. Pass `after` to resume after a `seq`.

    `seq` is the number of the ply. A game that is restarted continues from 1,000,000.
    """
    await call.run(call.store.games.get, game)
    source = _GameSource(call, game)
    return await stream.follow(call, Subject("game", game), stream.resume_point(call, query.after), source.look)


class _GameSource:
    """Stream source of a game: memory while it runs, the database when it is over."""

    def __init__(self, call: RequestContext, game: str) -> None:
        self._call = call
        self._game = game
        self._line: GameLine | None = None

    async def look(self, after: int | None, is_timeout: bool) -> Batch:
        """Return the events after `after`; see `arena.http.broadcast.Source`."""
        live = self._call.context.live.games.get(self._game)
        if self._line is None or live is None or is_timeout or live.attempt != self._line.attempt:
            self._line = await self._call.run(self._call.store.games.get, self._game)
        line = self._line
        if line.state in OVER:
            return await self._over(line, after)
        live = self._call.context.live.of(line)
        attempt = live.attempt if live else max(1, line.attempt)
        plies = list(live.plies) if live else []
        base = (attempt - 1) * ATTEMPT
        if after is None or not base <= after <= base + len(plies):
            return Batch([await self._state(line, base + len(plies), plies)])
        return Batch([_ply(base, number, plies[number - 1]) for number in range(after - base + 1, len(plies) + 1)])

    async def _over(self, line: GameLine, after: int | None) -> Batch:
        record = await self._record()
        base = (max(1, line.attempt) - 1) * ATTEMPT
        plies: list[PlyPayload] = []
        if record is not None:
            plies = [PlyPayload.of(move, ply) for move, ply in zip(record.moves, record.plies, strict=True)]
        last = base + len(plies)
        final = StreamLine("final", last + 1, {"game": GameItem.model_validate(line).model_dump(mode="json")})
        if after is None or not base <= after <= last + 1:
            return Batch([await self._state(line, last, plies), final], is_final=True)
        lines = [_ply(base, number, plies[number - 1]) for number in range(after - base + 1, len(plies) + 1)]
        return Batch([*lines, final], is_final=True)

    async def _record(self) -> GameRecord | None:
        return await self._call.run(services.game.record_of, self._call.arena, self._game)

    async def _state(self, line: GameLine, seq: int, plies: list[PlyPayload]) -> StreamLine:
        spec = await self._call.run(self._call.store.games.spec, line.id)
        record = await self._record() if line.state in OVER else None
        data = {
            "game": GameItem.model_validate(line).model_dump(mode="json"),
            "position": record.position if record else spec.position,
            "plies": [{"ply": number, **_told(ply)} for number, ply in enumerate(plies, 1)],
        }
        return StreamLine("state", seq, data)


def _ply(base: int, number: int, ply: PlyPayload) -> StreamLine:
    return StreamLine("ply", base + number, {"ply": number, **_told(ply)})


def _told(ply: PlyPayload) -> dict[str, Any]:
    found: dict[str, Any] = {"move": ply.move, "ms": ply.ms, "score": ply.score}
    return found | {name: value for name in PlyPayload.RARE if (value := getattr(ply, name)) not in (None, "")}
