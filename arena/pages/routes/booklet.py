"""Booklets to download: a game played here or archived, as a PDF."""

from __future__ import annotations

from collections.abc import Sequence

from aiohttp import web

from arena import services
from arena.http.kept_files import kept_file
from arena.http.problem import Problem
from arena.pages.drawing.booklet import BookletGame, BookletProblem, Layout, count_diagrams, make_booklet
from arena.pages.html_table import choice
from arena.pages.language import LANGUAGES
from arena.pages.page import FRAMES_PER_TOKEN, GAME_ID, allow_parameters, arena_of, path_number, run
from referee.errors import ArenaError
from referee.game.record import GameRecord, RecordError, positions

routes = web.RouteTableDef()


@routes.get("/games/{game}/booklet.pdf")
@allow_parameters("layout", "language")
async def of_game(request: web.Request) -> web.Response:
    """Serve a finished game as a booklet."""
    name = request.match_info["game"]
    record = None
    if GAME_ID.fullmatch(name):
        await run(services.game.find, arena_of(request), name)
        record = await run(services.game.record_of, arena_of(request), name)
    if record is None:
        raise Problem("not-found", "no record of this game", hint="wait until it is over")
    record = await run(services.analysis.annotated, arena_of(request), record)
    return await respond(request, f"game-{name[:8]}", [_played(record)])


def _played(record: GameRecord) -> BookletGame:
    return BookletGame(record, {"Date": record.started[:10]})


@routes.get("/archive/{serial}/booklet.pdf")
@allow_parameters("layout", "language")
async def of_archived(request: web.Request) -> web.Response:
    """Serve a game of the archive as a booklet."""
    serial, arena = path_number(request, "serial", "archived game"), arena_of(request)
    game = await run(services.archive.read, arena, serial)
    record = await run(services.archive.record_of, arena, serial)
    record = await run(services.analysis.annotated, arena, record)
    return await respond(request, f"game-{game.number}", [BookletGame(record, game.tags, game.number)])


async def respond(
    request: web.Request, name: str, games: Sequence[BookletGame], problems: Sequence[BookletProblem] = ()
) -> web.Response:
    """Make a booklet in another process. Its diagrams count as requests unless it is kept."""
    layout = choice(request.query, "layout", ("text", "presentation"), "text")
    in_language = choice(request.query, "language", tuple(LANGUAGES), "en")
    try:
        count = count_diagrams(games, problems)
    except ArenaError as error:
        raise Problem(error.kind, str(error), hint=error.hint) from None
    for game in games:
        try:
            await run(positions, game.record)  # an error in the other process would be one of the program
        except RecordError as error:
            raise Problem("invalid", f"game {game.record.id}: {error}") from None
    cost = count / FRAMES_PER_TOKEN
    body = await kept_file(request, cost, _print, tuple(games), tuple(problems), layout, in_language)
    headers = {"Content-Disposition": f'attachment; filename="{name}.pdf"', "Cache-Control": "no-cache"}
    return web.Response(body=body, content_type="application/pdf", headers=headers)


def _print(games: Sequence[BookletGame], problems: Sequence[BookletProblem], layout: Layout, in_language: str) -> bytes:
    return make_booklet(games, problems, layout=layout, language=in_language)
