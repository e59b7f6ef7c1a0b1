"""Lists of games: of all games, filtered by players, date and result; and of recent forfeits and void games with their
evidence, so that anyone can check decisions.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from aiohttp import web

from arena import services
from arena.documents.analysis import FIGURES
from arena.documents.game import GameItem, GameQuery
from arena.documents.query import PageQuery, PageResponse
from arena.documents.service import VoidItem
from arena.documents.table import Column, text_column
from arena.errors import NotFoundError
from arena.http.identity import session_of
from arena.http.problem import Problem
from arena.pages import html_table
from arena.pages.filters import plain
from arena.pages.html_table import choice, sorted_table
from arena.pages.page import allow_parameters, arena_of, render, run
from arena.pages.query_form import form_names, read_form
from arena.pages.routes.archive import order_by
from arena.pages.routes.game import live_boards, sprites_of
from referee.rules import families, load

routes = web.RouteTableDef()
MAX_RUNNING, MAX_BOARDS = 50, 6
"""Maximum of running games in the list, and of those shown as boards."""
_FORFEITS: tuple[Column[GameItem], ...] = (
    text_column("id", "Game", lambda game: game.id, "game", is_sortable=False, css="mono"),
    text_column("guilty", "At fault", lambda game: game.first if game.winner == "second" else game.second, "version"),
    text_column("opponent", "Opponent", lambda game: game.second if game.winner == "second" else game.first, "version"),
    text_column("termination", "Why", lambda game: game.termination, "bad", css="w"),
    Column("plies", "At ply", lambda game: game.plies + 1),
    text_column("detail", "Evidence", lambda game: game.detail, "reason"),
    text_column("log", "Log", lambda game: game.id, "log_link", is_sortable=False),
    Column("finished_at", "When", lambda game: game.finished_at),
)
_VOIDS: tuple[Column[VoidItem], ...] = (
    text_column("id", "Game", lambda attempt: attempt.game_id, "game", is_sortable=False, css="mono"),
    text_column("first", "First", lambda attempt: attempt.first, "version"),
    text_column("second", "Second", lambda attempt: attempt.second, "version"),
    Column("attempt", "Attempt", lambda attempt: attempt.attempt),
    text_column("termination", "Why", lambda attempt: attempt.termination, "bad", css="w"),
    text_column("detail", "Evidence", lambda attempt: attempt.detail, "reason"),
    text_column(
        "lease_owner",
        "Lease owner",
        lambda attempt: plain(attempt.lease_owner, 60) or None,
        order=lambda attempt: attempt.lease_owner,
    ),
    Column("voided_at", "When", lambda attempt: attempt.voided_at),
)


@routes.get("/games")
@allow_parameters(*form_names(GameQuery), "by", "after", "sort", "running")
async def index(request: web.Request) -> web.Response:
    """List the latest games that match the query; `?after=` continues the list."""
    arena, form = arena_of(request), read_form(request, GameQuery)
    query, by = form.query, choice(request.query, "by", FIGURES)
    variants = list(
        dict.fromkeys(
            variant.name
            for family in ([query.family] if query.family else families())
            for variant in load(family).variants
        )
    )
    choice(request.query, "variant", variants)
    until = query.until + timedelta(days=1) if query.until else None  # the last day in a form, the end in a query
    query = replace(query, until=until, after=request.query.get("after") or None, **(order_by(by) if by else {}))
    try:
        page = await run(services.game.search, arena, query)
    except NotFoundError as error:  # 400 rather than 404: the page exists, its query is wrong
        raise Problem("bad-request", str(error), hint=error.hint, field=error.noun, **error.extra) from None
    running = [] if by else await run(services.game.in_state, arena, "running", MAX_RUNNING)
    shown = await run(services.front_page.by_strength, arena, running)
    boards = await live_boards(request, shown[:MAX_BOARDS])
    boards.sort(key=lambda board: not board["ply"])  # the first one is large: one that has begun
    return render(
        request,
        "games.html",
        all_rules={name: load(name) for name in families()},
        boards=boards,
        sprites=sprites_of(boards),
        games=page,
        table=html_table.sort_games(
            request, page.items, "" if by else "-finished_at", with_family=True, parameter="sort"
        ),
        running=html_table.sort_games(request, running, "", with_family=True, parameter="running"),
        form=form,
        options={"variant": [(variant, variant) for variant in variants]},
        by=by,
        figures=await run(services.analysis.figures, arena, [line.id for line in page.items]),
    )


@routes.get("/errors")
@allow_parameters("family", "after", "voids", "sort", "order")
async def show_errors(request: web.Request) -> web.Response:
    """List forfeits, latest first, of all families or one; then void games."""
    family = choice(request.query, "family", families())
    arena, identity = arena_of(request), await session_of(request)
    query = GameQuery(errors=True, family=family or None, after=request.query.get("after") or None)

    def read() -> tuple[PageResponse[GameItem], PageResponse[VoidItem]]:
        return (
            services.game.search(arena, query),
            services.game.voids(arena, identity, PageQuery(after=request.query.get("voids") or None)),
        )

    forfeits, voids = await run(read)
    return render(
        request,
        "errors.html",
        family=family,
        forfeits=forfeits,
        voids=voids,
        guilty=sorted_table(request, _FORFEITS, forfeits.items),
        attempts=sorted_table(request, _VOIDS, voids.items, parameter="order"),
    )
