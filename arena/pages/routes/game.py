"""A game: its page with the viewer, usable ply by ply without scripts, what its script asks for, and small boards."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from aiohttp import web
from markupsafe import Markup

from arena import services
from arena.documents.archive import ArchiveItem
from arena.documents.game import EARLY_PLIES, GameItem
from arena.errors import NotFoundError
from arena.events.messages import Subject
from arena.http.identity import session_of
from arena.http.problem import as_json, not_found
from arena.http.request_context import CONTEXT, IDENTITY
from arena.pages import filters, language
from arena.pages.drawing import board, thumbnail
from arena.pages.drawing.replay import Replay
from arena.pages.html_table import number
from arena.pages.page import (
    GAME_ID,
    REPLAYS,
    allow_parameters,
    arena_of,
    in_a_language,
    redirect,
    redirect_permanently,
    render,
    run,
    run_use_case,
)
from arena.pages.session import checked_form
from arena.pages.viewer import Chart, chances_of, charts_of, gauge, is_first_light, ply_of, scenes_body, viewer_context
from arena.services.game import GameDetails
from referee.game.record import Ply
from referee.game.spec import GameSpec
from referee.rules.core import SIDES, Side

routes = web.RouteTableDef()
_MAX_PLY = 100_000
_PREFIX = re.compile("[0-9a-f]{8,32}")
_FRAMED = "default-src 'self'; object-src 'none'; frame-ancestors *; base-uri 'none'; form-action 'none'"


async def replay_of(request: web.Request, name: str = "") -> tuple[Replay, GameDetails]:
    """Return the replay of the named game, or of the one in the address, and its details."""
    name = name or request.match_info["game"]
    if not GAME_ID.fullmatch(name):
        raise not_found("game", name)
    details, replays = await run(services.game.read, arena_of(request), name), request.app[REPLAYS]
    if details.record is not None:
        return await run(replays.of_record, details.record, details.line.attempt), details
    live = request.app[CONTEXT].live.of(details.line)
    plies = list(live.plies) if live else [Ply(move=move) for move in details.spec.opening]
    return await run(replays.of_moves, details.line, details.spec, plies), details


def sentence(line: GameItem, replay: Replay) -> str:
    """Describe the state of the game in one sentence."""
    if line.state == "finished":
        loser = line.second if line.winner == "first" else line.first
        return decided(line, replay, filters.ending(line.termination, filters.plain(loser, 80)))
    values = players(line, replay)
    if line.state == "void":
        values["end"] = filters.ending(line.termination)
        return language.text("Void, not rated: %(first)s against %(second)s: %(end)s") % values
    if line.state == "running":
        return language.text("%(first)s is playing %(second)s") % values
    states = {"cancelled": language.text("cancelled"), "queued": language.text("next to be played")}
    values["state"] = states.get(line.state, language.text("waiting to be played"))
    return language.text("%(first)s against %(second)s: %(state)s") % values


def detail(line: GameItem) -> str:
    """Return what the referee reported about the end; empty for a resignation, which `sentence` describes fully."""
    return "" if line.termination == "resigned" else filters.plain(line.detail or "")


def players(line: GameItem | ArchiveItem, replay: Replay) -> dict[str, object]:
    """Return the values of a sentence about a game: the players `first` and `second` with their sides, and `ply`."""
    names = zip(("first", "second"), (line.first, line.second), replay.sides, strict=True)
    return {"ply": replay.last, **{name: f"{filters.plain(player, 80)} ({side})" for name, player, side in names}}


def decided(line: GameItem | ArchiveItem, replay: Replay, end: str) -> str:
    """Describe the result of a game that was won or drawn; `end` says how it ended."""
    values = {**players(line, replay), "end": end}
    if line.winner == "draw":
        return language.text("%(first)s and %(second)s drew at ply %(ply)s: %(end)s") % values
    winner, loser = ("first", "second") if line.winner == "first" else ("second", "first")
    values |= {"winner": values[winner], "loser": values[loser]}
    return language.text("%(winner)s beat %(loser)s at ply %(ply)s: %(end)s") % values


def drawn(game: GameItem, replay: Replay, *, is_small: bool = False) -> dict[str, Any]:
    """Draw the last position of a game, for pages with several boards."""
    label = language.text("%(said)s, ply %(ply)s") % {"said": sentence(game, replay), "ply": replay.last}
    drawing = board.svg(replay.rules, replay.scenes[-1], label=label, is_small=is_small)
    return {
        "game": game,
        "rules": replay.rules,
        "replay": replay,
        "ply": replay.last,
        "drawing": drawing,
        "gauge": gauge(chances_of(replay), replay.last),
        "is_first_light": is_first_light(replay.rules),
    }


async def live_board(request: web.Request, game: GameItem, spec: GameSpec, *, is_small: bool = True) -> dict[str, Any]:
    """Draw the last position of a running game, with the name of its tournament and the time of its last move."""
    known = request.app[CONTEXT].live.of(game)
    plies = list(known.plies) if known else []
    replay = await run(request.app[REPLAYS].of_moves, game, spec, plies)
    moved_at = known.moved_at if known else None
    return {**drawn(game, replay, is_small=is_small), "moved_at": moved_at, "event": spec.event}


async def live_boards(request: web.Request, games: Sequence[GameItem]) -> list[dict[str, Any]]:
    """Draw running games as small boards."""
    specs = await run(lambda: [services.game.spec_of(arena_of(request), game.id) for game in games])
    return [await live_board(request, game, spec) for game, spec in zip(games, specs, strict=True)]


def sprites_of(boards: Sequence[Mapping[str, Any]]) -> Markup:
    """Return the shapes of the pieces on some boards, once per page."""
    return board.sprites({one["rules"].family: one["rules"] for one in boards}.values())


async def _canonical(request: web.Request) -> str:
    """Return the canonical address for a game id in capitals or abbreviated; empty for any other id."""
    name = request.match_info["game"]
    lower = name.lower()
    if not _PREFIX.fullmatch(lower):
        return ""
    full = lower if GAME_ID.fullmatch(lower) else await run(services.game.complete_id, arena_of(request), lower)
    return str(request.rel_url.with_path(f"/games/{full}", keep_query=True)) if full and full != name else ""


@routes.get("/games/{game}")
@allow_parameters("ply", "flip")
async def show(request: web.Request) -> web.Response:
    """Show a game at its last ply, or at `?ply=`: a number (33) or a move and side (17y). `?flip=1` turns the board."""
    if canonical := await _canonical(request):
        return redirect_permanently(canonical)
    return await render_viewer(request, "game.html")


async def render_viewer(request: web.Request, template: str, keep: str = "no-cache", **more: Any) -> web.Response:
    """Render the game in the address on a page with the viewer; `more` adds template variables."""
    replay, details = await replay_of(request)
    line = details.line
    before, following, swapped = await run(services.game.neighbours, arena_of(request), line)
    user = await session_of(request)
    is_shown = {side: details.may_read_log(side, user) for side in SIDES}
    logs = details.record.logs if details.record else {}
    analysis = await run(services.analysis.read, arena_of(request), line.id)
    viewer = viewer_context(request, replay, analysis)
    shown: dict[str, Any] = dict(
        **viewer,
        result=_result(line),
        has_gif=thumbnail.can_animate(),
        base=f"/games/{line.id}",
        source=f"game={line.id}",
        game=line,
        spec=details.spec,
        record=details.record,
        sentence=sentence(line, replay),
        detail=detail(line),
        before=before,
        following=following,
        swapped=swapped,
        charts=charts_of(replay, analysis),
        thoughts={side: _thought(replay, side, viewer["ply"], flip=viewer["flip"]) for side in SIDES},
        changes={
            "first": details.changes.get(line.first_id),
            "second": details.changes.get(line.second_id),
        },
        rating_note=_RATING_NOTES.get(details.unrated, ""),
        is_early=line.termination == "resigned" and line.plies < EARLY_PLIES,
        logs={side: logs.get(side, "") for side in SIDES if is_shown[side] and logs.get(side)},
        hidden_logs=[side for side in SIDES if logs.get(side) and not is_shown[side]],
        is_live=line.state in ("queued", "running", "planned"),
    )
    return render(request, template, keep=keep, **(shown | more))


_RATING_NOTES: Mapping[str, str] = {
    "unrated": language.marked("not affected by this game"),
    "same-owner": language.marked("not affected: both players belong to one owner"),
    "daily-limit": language.marked("not affected: the two owners have played their rated games of the day"),
    "no-established-rating": language.marked("not affected: the opponent has no established rating yet"),
    "others-share": language.marked(
        "games against the bots of others count at most a quarter as much as those against the arena’s"
    ),
}
"""Why a game leaves a rating unchanged, in words."""


def _result(line: GameItem) -> str:
    """Return the result and how it came about, for the end of the move list; empty while it is running."""
    return (
        f"{filters.result(line.winner)} {language.translated(line.termination)}"
        if line.is_over and line.termination
        else ""
    )


@routes.get("/embed/games/{game}")
@allow_parameters("ply", "flip")
async def embed(request: web.Request) -> web.Response:
    """Show only the viewer, for a frame on another site. It contains no forms."""
    response = await render_viewer(request, "embed.html")
    response.headers["Content-Security-Policy"] = _FRAMED
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    return response


@routes.get("/games/{game}/analysis")
@allow_parameters()
async def analysing(request: web.Request) -> web.Response:
    """Render only the state of an analysis, with the curve so far of a game that was played here."""
    name = request.match_info["game"]
    analysis = await run(services.analysis.read, arena_of(request), name)
    charts: list[Chart] = []
    if analysis.plies:
        with suppress(NotFoundError):  # an imported game: its page shows the curve at the end
            charts = charts_of((await replay_of(request))[0], analysis)
    return render(request, "analysing.html", keep="no-store", analysis=analysis, charts=charts)


@routes.post("/games/{game}/analysis")
async def analyse(request: web.Request) -> web.Response:
    """Request an analysis of a game, played here or imported. It begins within seconds."""
    fields = await checked_form(request)
    name = request.match_info["game"]
    await run_use_case(services.analysis.ask, arena_of(request), name, request[IDENTITY])
    serial = fields.get("serial", "")
    return redirect(f"/archive/{serial}" if serial.isascii() and serial.isdecimal() else f"/games/{name}")


def _thought(replay: Replay, side: Side, ply: int, *, flip: bool) -> dict[str, Any]:
    """Return what a bot reported at its latest ply: ply, score, search statistics, principal variation."""
    number = replay.last_of(side, ply)
    line = replay.line(number)
    scene = line[-1] if line else replay.scenes[number]
    name = replay.sides[side == "second"]
    label = (
        language.text("Line expected by %(side)s") % {"side": name}
        if line
        else language.text("Board after ply %(ply)s") % {"ply": number}
    )
    return {
        "ply": number,
        "score": replay.score(number),
        "report": replay.plies[number - 1] if number else None,
        "moves": [scene.move for scene in line[1:]],
        "drawing": board.svg(replay.rules, scene, label=label, flip=flip, is_small=True),
    }


@routes.get("/games/{game}/charts")
@allow_parameters()
async def charts(request: web.Request) -> web.Response:
    """Render only the charts, for the viewer of a running game."""
    replay, details = await replay_of(request)
    keep = "public, max-age=86400" if details.line.is_over else "no-store"
    return render(request, "charts.html", keep=keep, charts=charts_of(replay))


@routes.get("/games/{game}/lines.json")
@allow_parameters("ply")
async def lines(request: web.Request) -> web.Response:
    """Return the principal variation that each bot last reported up to `?ply=`, as scenes.

    The first scene is the position in which the bot reported it.
    """
    replay, details = await replay_of(request)
    ply = ply_of(request, replay)
    at = {side: replay.last_of(side, ply) for side in SIDES}
    body = {
        side: {"ply": at[side], "scenes": [scene.as_json() for scene in await run(replay.line, at[side])]}
        for side in SIDES
    }
    response = web.json_response(body, dumps=as_json)
    response.enable_compression()
    return in_a_language(response, "public, max-age=86400" if details.line.is_over else "no-store")


@routes.get("/games/{game}/scenes.json")
async def scenes(request: web.Request) -> web.Response:
    """Return the scenes after `?after=` plies, with what is needed to draw them."""
    replay, details = await replay_of(request)
    after = number(request.query, "after", -1, low=0, high=_MAX_PLY)
    is_over = details.line.is_over
    body: dict[str, Any] = {
        "state": details.line.state,
        "is_over": is_over,
        "attempt": details.line.attempt,
        "sentence": sentence(details.line, replay),
        "detail": detail(details.line),
        "result": _result(details.line),
        "spectators": len(request.app[CONTEXT].broadcasts.get(Subject("game", details.line.id), ())),
        "moved_at": live.moved_at if (live := request.app[CONTEXT].live.of(details.line)) else None,
        "expected": {} if is_over else await run(_expected, replay),
        **scenes_body(replay, after, await run(services.analysis.read, arena_of(request), details.line.id)),
    }
    response = web.json_response(body, dumps=as_json)
    # A game that is over may still be analysed: cache the response for a minute only.
    response.enable_compression()
    return in_a_language(response, "public, max-age=60" if is_over else "no-store")


def _expected(replay: Replay) -> dict[str, list[str]]:
    """Return the moves that each bot expects, by its latest report."""
    return {side: [scene.move for scene in replay.line(replay.last_of(side, replay.last))[1:]] for side in SIDES}
