"""The game viewer: one page for all families, usable ply by ply without scripts, and the scenes for its script."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from aiohttp import web
from markupsafe import Markup

from arena import services
from arena.documents.analysis import AnalysisResponse
from arena.documents.archive import ArchiveItem
from arena.documents.game import EARLY_PLIES, GameItem
from arena.events.messages import Subject
from arena.http.identity import session_of
from arena.http.problem import Problem, as_json, not_found, quoted
from arena.http.request_context import CONTEXT, IDENTITY
from arena.pages import filters, language
from arena.pages.drawing import board, thumbnail
from arena.pages.drawing.piece_shapes import key, looks
from arena.pages.drawing.replay import Replay
from arena.pages.drawing.scene import Scene, piece_names
from arena.pages.html_table import choice, number
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
from arena.services.game import GameDetails
from referee.game.record import Ply
from referee.game.spec import GameSpec
from referee.rules.core import SIDES, ParseError, Side
from referee.rules.move_input import legal_moves
from referee.rules.position import Position
from referee.rules.rules import Rules
from referee.rules.text_board import rows

routes = web.RouteTableDef()
_MAX_PLY = 100_000
_PREFIX = re.compile("[0-9a-f]{8,32}")


async def _find(request: web.Request, name: str = "") -> GameDetails:
    name = name or request.match_info["game"]
    if not GAME_ID.fullmatch(name):
        raise not_found("game", name)
    return await run(services.game.read, arena_of(request), name)


async def _replay(request: web.Request, found: GameDetails) -> Replay:
    replays = request.app[REPLAYS]
    if found.record is not None:
        return await run(replays.of_record, found.record, found.line.attempt)
    live = request.app[CONTEXT].live.of(found.line)
    plies = list(live.plies) if live else [Ply(move=move) for move in found.spec.opening]
    return await run(replays.of_moves, found.line, found.spec, plies)


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


async def replay_of(request: web.Request, name: str = "") -> tuple[Replay, GameDetails]:
    """Return the replay of the named game, or of the one in the address, and its details."""
    found = await _find(request, name)
    return await _replay(request, found), found


async def render_viewer(request: web.Request, template: str, keep: str = "no-cache", **more: Any) -> web.Response:
    """Render the game in the address on a page with the viewer; `more` adds template variables."""
    details = await _find(request)
    replay = await _replay(request, details)
    line = details.line
    before, following, swapped = await run(services.game.neighbours, arena_of(request), line)
    ply, flip = _ply_and_flip(request, replay)
    user = await session_of(request)
    is_shown = {side: details.may_read_log(side, user) for side in SIDES}
    logs = details.record.logs if details.record else {}
    analysis = await run(services.analysis.read, arena_of(request), line.id)
    shown: dict[str, Any] = dict(
        **viewer_context(request, replay, analysis),
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
        charts=_charts(replay, analysis),
        thoughts={side: _thought(replay, side, ply, flip=flip) for side in SIDES},
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
    "no-established-rating": language.marked("change only against an opponent with an established rating"),
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


def mark_of(replay: Replay, analysis: AnalysisResponse | None, ply: int) -> str:
    """Return the mark of a ply, such as `??`: the one written after the move by an annotator, else the engine's."""
    if annotation := replay.scenes[ply].annotation:
        return annotation
    analysed = analysis.by_ply.get(ply) if analysis else None
    return analysed.mark if analysed else ""


def _mistakes(replay: Replay, analysis: AnalysisResponse | None) -> list[dict[str, Any]]:
    """Return the moves of a game that the engine marked as mistakes, with the moves it prefers."""
    return [
        {
            "ply": ply.number,
            "side": replay.sides[ply.side == "second"],
            "mark": ply.mark,
            "move": replay.scenes[ply.number].move,
            "played": replay.scenes[ply.number].canonical,
            "best": ply.best,
        }
        for ply in (analysis.plies if analysis else ())
        if ply.mark in ("?", "??") and ply.best and ply.number <= replay.last
    ]


def chances_of(replay: Replay, analysis: AnalysisResponse | None = None) -> list[float | None]:
    """Return the first side's winning chances (-1 to 1) after every ply: the engine's or those the mover reported."""
    by_ply = analysis.by_ply if analysis else {}
    found: list[float | None] = []
    for ply in range(replay.last + 1):
        engines = following.chances_of_first if (following := by_ply.get(ply + 1)) else None
        found.append(replay.chances(ply) if engines is None else engines)
    return found


def gauge(chances: Sequence[float | None], ply: int) -> int:
    """Return the percentage of the evaluation bar that belongs to the first side, by the latest chances up to a ply."""
    return round(50 + 50 * next((one for one in chances[ply::-1] if one is not None), 0.0))


Chart = tuple[str, Any, Sequence[tuple[str, str]]]
"""A title, a drawing, and the key of its colours: class of the style sheet and name."""


def engine_charts(replay: Replay, analysis: AnalysisResponse | None) -> list[Chart]:
    """Return the engine's charts of an analysed game."""
    if analysis is None or not analysis.plies:
        return []
    chances = {ply.number: found for ply in analysis.plies if (found := ply.chances_of_first) is not None}
    title = language.text("Winning chances (up: %(side)s)") % {"side": replay.sides[0]}
    return [(title, replay.chances_chart(chances), ())]


@routes.post("/games/{game}/analysis")
async def analyse(request: web.Request) -> web.Response:
    """Request an analysis of a game, played here or imported. It runs when the arena is idle."""
    fields = await checked_form(request)
    name = request.match_info["game"]
    await run_use_case(services.analysis.ask, arena_of(request), name, request[IDENTITY])
    serial = fields.get("serial", "")
    return redirect(f"/archive/{serial}" if serial.isascii() and serial.isdecimal() else f"/games/{name}")


def _ply_and_flip(request: web.Request, replay: Replay) -> tuple[int, bool]:
    """Return the requested ply, by default the last one, and whether the board is turned."""
    return ply_of(request, replay), choice(request.query, "flip", ("0", "1"), "0") == "1"


def ply_of(request: web.Request, replay: Replay) -> int:
    """Return the ply in the address: a number, or a move and its side (`17y`); by default the last. Raises Problem."""
    text = request.query.get("ply", "").strip()
    if not text:
        return replay.last
    try:
        return replay.ply_named(text)
    except ParseError as error:
        raise Problem("bad-request", f"ply={quoted(text)}: {error.problem}", field="ply", hint=error.hint) from None


def viewer_context(request: web.Request, replay: Replay, analysis: AnalysisResponse | None = None) -> dict[str, Any]:
    """Return the template variables of the viewer, at the requested ply."""
    ply, flip = _ply_and_flip(request, replay)
    scene = replay.scenes[ply]
    label = board_label(replay.rules, ply)
    return {
        "replay": replay,
        "rules": replay.rules,
        "ply": ply,
        "flip": flip,
        "scene": scene,
        "drawing": board.svg(replay.rules, scene, label=label, flip=flip, mark=mark_of(replay, analysis, ply)),
        "sprites": board.sprites([replay.rules]),
        "legend": board.legend(replay.rules, scene),
        "analysis": analysis,
        "mistakes": _mistakes(replay, analysis),
        "is_first_light": is_first_light(replay.rules),
        "gauge": gauge(chances_of(replay, analysis), ply),
        "grid": grid(replay.rules, scene),
        "piece_key": piece_key(replay.rules),
        "taken": (taken := _taken(replay, ply)),
        "lead": _leads(taken),
        "table": replay.rows(),
    }


def board_label(rules: Rules, ply: int) -> str:
    """Return the alternative text for the drawing of a board."""
    values = {"family": language.translated(rules.title), "ply": ply}
    return (
        language.text("%(family)s board after ply %(ply)s") if ply else language.text("%(family)s board, start")
    ) % values


def legal_as_json(position: Position) -> list[dict[str, Any]]:
    """Return the legal moves for the scripts that enter moves."""
    return [asdict(one) | {"effect": language.translated(one.effect)} for one in legal_moves(position)]


def is_first_light(rules: Rules) -> bool:
    """Return whether the pieces of the first side are light."""
    sides = zip(looks(rules.pieces), rules.pieces, strict=True)
    return any(look.tone == "light" for look, piece in sides if piece.side == "first")


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


def grid(rules: Rules, scene: Scene) -> list[list[str]]:
    """Describe the board in words, row by row."""
    return [[board.described(rules, scene, cell) for cell in row if cell.kind != "hole"] for row in rows(scene.board)]


def piece_key(rules: Rules) -> list[tuple[list[str], str, str]]:
    """Return the kinds of pieces that need an explanation: the symbols of both sides, name, note."""
    kinds: dict[str, tuple[list[str], str, str]] = {}
    for piece in rules.pieces:
        if piece.note:
            looks, *_ = kinds.setdefault(
                piece.name, ([], language.translated(piece.name), language.translated(piece.note))
            )
            looks.append(board.prefix(rules.family) + key(piece.symbol))
    return list(kinds.values())


def _taken(replay: Replay, ply: int) -> dict[str, list[tuple[str, str, int]]]:
    """Return the pieces off the board by the side that captured them: (identifier, name, count)."""
    captured: dict[str, list[tuple[str, str, int]]] = {"first": [], "second": []}
    gone = replay.scenes[ply].gone
    for piece in replay.rules.pieces:
        if count := gone.get(piece.symbol):
            identifier = board.prefix(replay.rules.family) + key(piece.symbol)
            name = language.translated(piece_names(replay.rules)[piece.symbol])
            captured["second" if piece.side == "first" else "first"].append((identifier, name, count))
    return captured


def _leads(taken: dict[str, list[tuple[str, str, int]]]) -> dict[str, int]:
    """Return how many more pieces each side has captured than the other."""
    first, second = (sum(count for *_, count in taken[side]) for side in SIDES)
    return {"first": first - second, "second": second - first}


@routes.get("/games/{game}/charts")
@allow_parameters()
async def charts(request: web.Request) -> web.Response:
    """Render only the charts, for the viewer of a running game."""
    found = await _find(request)
    is_over = found.line.is_over
    keep = "public, max-age=86400" if is_over else "no-store"
    return render(request, "charts.html", keep=keep, charts=_charts(await _replay(request, found)))


def _charts(replay: Replay, analysis: AnalysisResponse | None = None) -> list[Chart]:
    sides = tuple((f"key{number}", name) for number, name in enumerate(replay.sides, 1))
    charts: list[Chart] = [
        *engine_charts(replay, analysis),
        (
            language.text("Evaluation (up: %(side)s)") % {"side": replay.sides[0]},
            replay.scores_chart(),
            (*sides, ("key3", language.text("engines disagree"))),
        ),
        (language.text("Time per move"), replay.times_chart(), sides),
        (language.text("Time left"), replay.clocks_chart(), sides),
    ]
    return [chart for chart in charts if chart[1]]


@routes.get("/games/{game}/lines.json")
@allow_parameters("ply")
async def lines(request: web.Request) -> web.Response:
    """Return the principal variation that each bot last reported up to `?ply=`, as scenes.

    The first scene is the position in which the bot reported it.
    """
    details = await _find(request)
    replay = await _replay(request, details)
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
    details = await _find(request)
    replay = await _replay(request, details)
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


def scenes_body(replay: Replay, after: int, analysis: AnalysisResponse | None = None) -> dict[str, Any]:
    """Return the scenes after the ply `after`, with times and clocks; if it is -1, also the layout of the board."""
    chances = chances_of(replay, analysis)
    body: dict[str, Any] = {
        "last": replay.last,
        "scenes": [scene.as_json() for scene in replay.scenes[after + 1 :]],
        "plies": [
            _ply(replay, index) | {"chance": chances[index], "mark": mark_of(replay, analysis, index)}
            if index
            else None
            for index in range(after + 1, replay.last + 1)
        ],
        "to_move": replay.scenes[-1].to_move,
        "left_ms": replay.clocks[-1],
        "left": [[replay.share(ply, side) for side in (0, 1)] for ply in range(after + 1, replay.last + 1)],
        "clocks": [[filters.clock(ms) if ms is not None else "" for ms in pair] for pair in replay.clocks[after + 1 :]],
    }
    if after < 0:
        body["chart"] = board.chart(replay.rules, replay.scenes[0].board)
        body["sides"] = list(replay.sides)
    return body


def _ply(replay: Replay, number: int) -> dict[str, Any]:
    """Return a ply for the move list and the panel; the score is from the view of the first side."""
    ply, score = replay.plies[number - 1], replay.score(number)
    return {
        "ms": ply.ms or 0,
        "time": language.text("book") if ply.book else filters.milliseconds(ply.ms),
        "score": filters.score(score) if score is not None else "",
        "search": filters.thought(ply),
        "pv": bool(ply.pv),
    }
