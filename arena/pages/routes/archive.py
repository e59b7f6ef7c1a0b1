"""The archive: search and show games, those of a month, and the pages of their players."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from aiohttp import web

from arena import services
from arena.clock import now
from arena.documents.analysis import FIGURES, AnalysedMove
from arena.documents.archive import HERE, ArchiveItem, ArchiveQuery, ArchiveResponse
from arena.documents.columns import ARCHIVE
from arena.documents.table import Column, page_columns, text_column
from arena.http.problem import Problem, as_json
from arena.pages import filters, language
from arena.pages.drawing import board
from arena.pages.drawing.replay import Replay
from arena.pages.html_table import HtmlTable, choice, number, sorted_table, sorting, won
from arena.pages.page import (
    REPLAYS,
    allow_parameters,
    arena_of,
    error_sentence,
    in_a_language,
    path_number,
    redirect,
    render,
    run,
    run_use_case,
)
from arena.pages.query_form import form_names, read_form
from arena.pages.routes.game import decided, players
from arena.pages.viewer import engine_charts, scenes_body, viewer_context
from arena.services.archive import PlayerFigures
from referee.errors import ArenaError
from referee.game.record import GameRecord
from referee.rules import families, load
from referee.rules.position import Position

routes = web.RouteTableDef()
_COLUMNS: tuple[Column[ArchiveItem], ...] = (
    *page_columns(ARCHIVE, ("source",)),
    *(replace(column, cell=lambda game: game.collection) for column in ARCHIVE if column.key == "source"),
)
_ANALYSED: tuple[Column[ArchiveItem], ...] = (
    *_COLUMNS,
    Column(
        "blunders", "Blunders", lambda game: "blunders", "figure", hint="of both sides, by the engine", css="figure"
    ),
    Column(
        "accuracy",
        "Accuracy",
        lambda game: "accuracy",
        "accuracies",
        hint="0 to 100, of both sides; sorted by the less accurate one",
        css="figure",
    ),
    Column(
        "turning_points",
        "Turns",
        lambda game: "turning_points",
        "figure",
        hint="turning points: moves from a winning position to an even or losing one",
        css="figure",
    ),
)
_FIGURES: tuple[Column[PlayerFigures], ...] = (
    text_column("family", "Family", lambda row: row.family, "family", is_heading=True),
    Column("games", "Games", lambda row: row.games),
    Column("wins", "Won", lambda row: row.wins),
    Column("draws", "Drawn", lambda row: row.draws),
    Column("losses", "Lost", lambda row: row.losses),
    Column("other", "Unknown", lambda row: row.other),
)
_MAX_PLIES, _OF_A_MONTH = 100_000, 10


@routes.get("/archive")
@allow_parameters(*form_names(ArchiveQuery), "sort", "after")
async def index(request: web.Request) -> web.Response:
    """Search the archive, latest games first."""
    form = read_form(request, ArchiveQuery)
    table = sorting(request, _ANALYSED, "-number")
    problem, page = "", None
    arena = arena_of(request)
    query = replace(form.query, after=request.query.get("after") or None, **table.order)
    try:
        page = await run_use_case(services.archive.search, arena, query)
    except ArenaError as error:
        if error.status >= 500:
            raise
        problem = error_sentence(error)
    figures = await run(services.analysis.figures, arena, [line.id for line in page.items] if page else [])
    endings = await run(services.archive.names, arena, "termination")
    items = page.items if page else []
    columns = _ANALYSED if figures else _COLUMNS
    if not any(game.collection for game in items):
        columns = page_columns(columns, ("source",))
    return render(
        request,
        "archive.html",
        status=400 if problem else 200,
        found=page,
        figures=figures,
        table=HtmlTable(columns, items, table, won),
        form=form,
        options={
            "ending": [(ending, filters.plain(ending, 40)) for ending in endings],
            "source": source_options(await run(services.archive.names, arena, "source")),
        },
        problem=problem,
    )


def source_options(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return the collections as options of a form: values and texts."""
    return [
        (filters.plain(name, 80), language.text("played here") if name == HERE else filters.plain(name, 24))
        for name in names
    ]


@routes.get("/archive/players/{player}")
@allow_parameters("sort", "families")
async def player(request: web.Request) -> web.Response:
    """Show a player of the archive: results by family, opponents, games."""
    name, arena = request.match_info["player"], arena_of(request)
    profile = await run(services.archive.read_player, arena, name)
    table = sorting(request, _ANALYSED, "-number")
    games = await run(services.archive.search, arena, replace(ArchiveQuery(name=name), **table.order))
    figures = await run(services.analysis.figures, arena, [line.id for line in games.items])
    by_family = sorted_table(request, _FIGURES, profile.families, parameter="families")
    return render(
        request,
        "archive_player.html",
        player=profile,
        games=games,
        figures=figures,
        table=HtmlTable(_ANALYSED if figures else _COLUMNS, games.items, table, won),
        by_family=by_family,
        keep="no-cache",
    )


@routes.get("/archive/month")
@allow_parameters("month", "family", "by")
async def month(request: web.Request) -> web.Response:
    """Show the game of a month and the runners-up, ranked by the figure `?by=` of their analysis.

    By default, only games with a blown win are shown, ranked by the number of turning points; without any, those with
    the most blunders. Without a month in the address, this month is shown, or the latest that has an analysed game.
    """
    asked = request.query.get("month", "")
    chosen = asked or f"{now():%Y-%m}"
    if not re.fullmatch(r"[1-9][0-9]{3}-(0[1-9]|1[0-2])", chosen):
        raise Problem(
            "bad-request", f"invalid month {chosen[:20]!r}", field="month", hint="expected YYYY-MM, such as 2026-11"
        )
    family, arena = choice(request.query, "family", families()) or None, arena_of(request)
    wish = choice(request.query, "by", FIGURES)
    for by in (wish,) if wish else ("turning_points", "blunders"):
        query = ArchiveQuery(
            family=family,
            since=chosen,
            until=chosen,
            blown_win="yes" if by == "turning_points" else None,
            limit=_OF_A_MONTH,
        )
        page = await run(services.archive.search, arena, replace(query, **order_by(by)))
        # `blunders` leaves out games that were not analysed.
        newest = replace(query, since=None, until=None, blunders=0, sort="date", order="falling", limit=1)
        if not asked and not page.items and (latest := (await run(services.archive.search, arena, newest)).items):
            chosen = latest[0].date[:7] if len(latest[0].date) > len("2026") else chosen
            query = replace(query, since=chosen, until=chosen)
            page = await run(services.archive.search, arena, replace(query, **order_by(by)))
        if page.items:
            break
    shown = await _worst_move(request, page.items[0]) if page.items else None
    return render(
        request,
        "archive_month.html",
        shown=shown,
        sprites=board.sprites([load(page.items[0].family)]) if shown else "",
        month=chosen,
        neighbours=_neighbours(chosen),
        this_month=f"{now():%Y-%m}",
        by=by,
        family=family or "",
        found=page,
        figures=await run(services.analysis.figures, arena, [line.id for line in page.items]),
    )


async def _worst_move(request: web.Request, game: ArchiveItem) -> dict[str, Any] | None:
    """Draw the position after the worst move of a game, by its analysis; None if no move was analysed."""
    analysis = await run(services.analysis.read, arena_of(request), game.id)
    replay = await replay_at(request, game.serial)
    plies = [move for move in (analysis.plies if analysis else ()) if 0 < move.number <= replay.last and move.loss]
    if not plies:
        return None
    worst = max(plies, key=lambda move: move.loss or 0)
    move = replay.scenes[worst.number].move
    label = language.text("Board after ply %(ply)s") % {"ply": worst.number}
    return {
        "ply": worst.number,
        "side": replay.sides[worst.side == "second"],
        "move": move,
        "mark": worst.mark,
        "best": _displayed(replay, worst) if worst.best else "",
        "drawing": board.svg(replay.rules, replay.scenes[worst.number], label=label, mark=worst.mark),
    }


def _displayed(replay: Replay, ply: AnalysedMove) -> str:
    """Return the engine's preferred move, written as people write it."""
    ruleset = replay.ruleset or replay.rules.settle()
    before = Position.start(ruleset, replay.scenes[ply.number - 1].position)
    return before.display(replay.rules.notation.read_move(ply.best, before.state, ruleset.config))


def order_by(figure: str) -> dict[str, Any]:
    """Return the query fields that sort games by `figure`, such as `blunders`, the worst games first."""
    return {"sort": figure, "order": "rising" if figure.endswith("accuracy") else "falling"}


def _neighbours(month: str) -> tuple[str, str]:
    """Return the month before a month, and the one after it."""
    year, month_of_year = map(int, month.split("-"))
    before, following = 12 * year + month_of_year - 2, 12 * year + month_of_year
    return tuple(f"{at // 12:04}-{at % 12 + 1:02}" for at in (before, following))  # type: ignore[return-value]


@routes.get("/archive/{serial}")
@allow_parameters("ply", "flip")
async def show(request: web.Request) -> web.Response:
    """Show a game of the archive in the viewer; games played here redirect to their own page."""
    game, record = await _find(request)
    if game.is_played_here:
        return redirect(f"/games/{game.id}")
    replay = await run(request.app[REPLAYS].of_record, record)
    analysis = await run(services.analysis.read, arena_of(request), game.id)
    return render(
        request,
        "archive_game.html",
        **viewer_context(request, replay, analysis),
        result=_result(game),
        base=f"/archive/{game.serial}",
        source=f"archive={game.serial}",
        game=game,
        sentence=_sentence(game, replay),
        tags={name: value for name, value in game.tags.items() if re.fullmatch(r"[\w .-]{1,40}", name)},
        charts=engine_charts(replay, analysis),
        thoughts={},
        is_live=False,
        keep="no-cache",
    )


async def _find(request: web.Request) -> tuple[ArchiveResponse, GameRecord]:
    serial = path_number(request, "serial", "archived game")
    return await run(services.archive.read_with_record, arena_of(request), serial)


async def replay_at(request: web.Request, serial: int) -> Replay:
    """Return the replay of a game by its number in the archive."""
    record = await run(services.archive.record_of, arena_of(request), serial)
    return await run(request.app[REPLAYS].of_record, record)


def _sentence(line: ArchiveItem, replay: Replay) -> str:
    """Describe the result, as far as it is known."""
    if line.winner is None:
        return language.text("%(first)s against %(second)s, result unknown at ply %(ply)s") % players(line, replay)
    loser = line.second if line.winner == "first" else line.first
    return decided(line, replay, filters.ending(line.termination, filters.plain(loser, 80)))


def _result(line: ArchiveItem) -> str:
    return f"{filters.result(line.winner)} {language.translated(line.termination or '')}".strip()


@routes.get("/archive/{serial}/scenes.json")
@allow_parameters("after")
async def scenes(request: web.Request) -> web.Response:
    """Return the scenes after `?after=` plies, like `/games/{game}/scenes.json`."""
    game, record = await _find(request)
    replay = await run(request.app[REPLAYS].of_record, record)
    after = number(request.query, "after", -1, low=0, high=_MAX_PLIES)
    body = {
        "state": "finished",
        "is_over": True,
        "attempt": 0,
        "sentence": _sentence(game, replay),
        "detail": "",
        "result": _result(game),
        "moved_at": None,
        **scenes_body(replay, after, await run(services.analysis.read, arena_of(request), game.id)),
    }
    response = web.json_response(body, dumps=as_json)
    response.enable_compression()
    return in_a_language(response, "public, max-age=60")  # the analysis may still come
