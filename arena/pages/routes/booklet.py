"""Booklets to download: a game played here or archived, or the problems of a family, as a PDF."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aiohttp import web

from arena import services
from arena.documents.win_problem import WinProblemQuery
from arena.errors import ArenaError
from arena.http.problem import Problem
from arena.http.request_context import CONTEXT, address_key
from arena.pages.drawing.booklet import BookletGame, BookletProblem, make_booklet
from arena.pages.html_table import choice
from arena.pages.language import LANGUAGES
from arena.pages.page import GAME_ID, allow_parameters, arena_of, path_family, path_number, run
from referee.game.record import GameRecord
from referee.rules import load

routes = web.RouteTableDef()
MAX_PROBLEMS = 100
"""Maximum number of problems in a booklet."""


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
    return await _booklet(request, f"game-{name[:8]}", [_played(record)])


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
    return await _booklet(request, f"game-{game.number}", [BookletGame(record, game.tags, game.number)])


@routes.get("/{family}/problems/booklet.pdf")
@allow_parameters("layout", "language")
async def of_problems(request: web.Request) -> web.Response:
    """Serve the latest problems of a family as a booklet, with the solutions at its end."""
    rules, arena = path_family(request), arena_of(request)
    query = WinProblemQuery(family=rules.family, limit=MAX_PROBLEMS)
    found = await run(services.problems.search, arena, query)
    problems = [await run(services.problems.read, arena, one.id) for one in found.items]
    printed = [
        BookletProblem(
            load(one.family).settle(one.variant, one.options),
            one.position,
            one.moves or 0,
            services.problems.solution_of(one).text,
            one.title or f"{one.id}",
            one.condition,
            one.text,
        )
        for one in problems
    ]
    return await _booklet(request, f"problems-{rules.family}", (), printed)


async def _booklet(
    request: web.Request, name: str, games: Sequence[BookletGame], problems: Sequence[BookletProblem] = ()
) -> web.Response:
    """Make a booklet in a thread, within the limit on simultaneous exports."""
    limiter, key = request.app[CONTEXT].exports, address_key(request)
    chosen: Mapping[str, Any] = {
        "layout": choice(request.query, "layout", ("text", "presentation"), "text"),
        "language": choice(request.query, "language", tuple(LANGUAGES), "en"),
    }
    if not limiter.enter(key):
        raise Problem("too-many", f"you have {limiter.each} running exports", headers={"Retry-After": "5"})
    try:
        body = await run(lambda: make_booklet(games, problems, **chosen))
    except ArenaError as error:
        raise Problem(error.kind, str(error), hint=error.hint) from None
    finally:
        limiter.leave(key)
    headers = {"Content-Disposition": f'attachment; filename="{name}.pdf"', "Cache-Control": "no-cache"}
    return web.Response(body=body, content_type="application/pdf", headers=headers)
