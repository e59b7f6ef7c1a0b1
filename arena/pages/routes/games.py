"""The list of all games, filtered by players, date and result."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from aiohttp import web

from arena import services
from arena.documents.analysis import FIGURES
from arena.documents.game import GameQuery
from arena.errors import NotFoundError
from arena.http.problem import Problem
from arena.pages import columns
from arena.pages.html_table import choice
from arena.pages.page import allow_parameters, arena_of, render, run
from arena.pages.query_form import form_names, read_form
from arena.pages.routes.archive import order_by
from arena.pages.routes.game import live_boards, sprites_of
from referee.rules import families, load

routes = web.RouteTableDef()
MAX_RUNNING, MAX_BOARDS = 50, 6
"""Maximum of running games in the list, and of those shown as boards."""


@routes.get("/games")
@allow_parameters(*form_names(GameQuery), "by", "after", "sort", "running")
async def index(request: web.Request) -> web.Response:
    """List the latest games that match the query; `?after=` continues the list."""
    arena, form = arena_of(request), read_form(request, GameQuery)
    query, by = form.query, choice(request.query, "by", FIGURES)
    variants = list(
        dict.fromkeys(
            one.name for family in ([query.family] if query.family else families()) for one in load(family).variants
        )
    )
    choice(request.query, "variant", variants)
    until = query.until + timedelta(days=1) if query.until else None  # the last day in a form, the end in a query
    query = replace(query, until=until, after=request.query.get("after") or None, **(order_by(by) if by else {}))
    try:
        found = await run(services.game.search, arena, query)
    except NotFoundError as error:  # 400 rather than 404: the page exists, its query is wrong
        raise Problem("bad-request", str(error), hint=error.hint, field=error.noun, **error.extra) from None
    running = [] if by else await run(services.game.in_state, arena, "running", MAX_RUNNING)
    boards = await live_boards(request, running[:MAX_BOARDS])
    return render(
        request,
        "games.html",
        boards=boards,
        sprites=sprites_of(boards),
        games=found,
        table=columns.sort_games(
            request, found.items, "" if by else "-finished_at", with_family=True, parameter="sort"
        ),
        running=columns.sort_games(request, running, "", with_family=True, parameter="running"),
        form=form,
        options={"variant": [(one, one) for one in variants]},
        by=by,
        figures=await run(services.analysis.figures, arena, [line.id for line in found.items]),
    )
