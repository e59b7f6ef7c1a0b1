"""Lists of problems, with the best solvers: pages, feed, booklets, and the card of the front page."""

from __future__ import annotations

from datetime import UTC, datetime

import aiohttp_jinja2
from aiohttp import web
from markupsafe import Markup

from arena.documents.account import UserItem
from arena.documents.table import Column, text_column
from arena.features.problems import service
from arena.features.problems.documents import SolverLine, SolverQuery, WinProblemItem, WinProblemQuery
from arena.http.identity import session_of
from arena.http.request_context import CONTEXT
from arena.pages import filters, language
from arena.pages.drawing import board
from arena.pages.drawing.booklet import BookletProblem
from arena.pages.drawing.scene import Scenes
from arena.pages.html_table import HtmlTable, choice
from arena.pages.page import Card, allow_parameters, arena_of, in_a_language, path_family, render, run
from arena.pages.query_form import NOT_IN_FORMS, form_names, read_form
from arena.pages.routes import booklet
from referee.rules import load
from referee.rules.rules import Rules

routes = web.RouteTableDef()
_SOLVERS: tuple[Column[SolverLine], ...] = (
    Column("rank", "Rank", lambda line: line.rank),
    text_column("name", "Name", lambda line: line.name, "user", is_heading=True),
    Column("conservative", "Rating", lambda line: line.conservative, "strength"),
    Column("mu", "mu", lambda line: line.mu, "strength"),
    Column("sigma", "sigma", lambda line: line.sigma, "strength"),
    Column("solved", "Solved", lambda line: line.solved, "solved"),
)
PER_PAGE = 24
MAX_PRINTED = 100
"""Maximum number of problems in a booklet."""
_NOT_IN_FORM = (*NOT_IN_FORMS, "state", "author")


@routes.get("/problems")
@allow_parameters(*form_names(WinProblemQuery, _NOT_IN_FORM), "after")
async def index(request: web.Request) -> web.Response:
    """Show the problem of the month, and the problems of all families or those that match the query."""
    return await _list(request)


@routes.get("/{family}/problems")
@allow_parameters(*form_names(WinProblemQuery, _NOT_IN_FORM), "after", "tried")
async def of_family(request: web.Request) -> web.Response:
    """Show the problems and the best solvers of a family; with `?tried=all`, say that no untried one is left."""
    return await _list(request, path_family(request))


async def _list(request: web.Request, rules: Rules | None = None) -> web.Response:
    known = {} if rules is None else {"family": rules.family}
    form = read_form(
        request, WinProblemQuery, without=_NOT_IN_FORM, after=request.query.get("after"), limit=PER_PAGE, **known
    )
    arena, identity = arena_of(request), await session_of(request)
    page = await run(service.search, arena, form.query)
    month = None if rules else await run(service.of_month, arena)
    days = await run(service.of_today, arena, rules.family if rules else None)
    shown = [*page.items, *([month] if month else []), *days]
    solvers = await run(service.solvers, arena, SolverQuery(family=rules.family, limit=10)) if rules else None
    return render(
        request,
        "problems/problems.html",
        rules=rules,
        form=form,
        found=page,
        month=month,
        days=days,
        streaks=await run(service.streaks, arena, identity) if days else {},
        are_all_tried=choice(request.query, "tried", ("all",)) == "all",
        drawings=await run(lambda: {problem.id: drawing(problem) for problem in shown}),
        sentences={problem.id: sentence(problem) for problem in shown},
        outcomes=await run(service.outcomes, arena, [problem.id for problem in shown], identity),
        solvers=HtmlTable(
            _SOLVERS, solvers.items if solvers else (), css=lambda line: "quiet" if line.is_provisional else ""
        ),
        rating=await run(service.rating, arena, rules.family, identity) if rules and identity else None,
        sprites=board.sprites(load(name) for name in sorted({problem.family for problem in shown})),
    )


def drawing(problem: WinProblemItem) -> Markup:
    """Draw the position of a problem in a small board."""
    ruleset = service.ruleset_of(problem)
    scene = Scenes(ruleset, problem.position).items[0]
    return board.svg(ruleset.rules, scene, label=label(problem), is_small=True)


def label(problem: WinProblemItem) -> str:
    """Return the alternative text for the drawing of a problem."""
    return f"{language.translated(load(problem.family).title)} – {sentence(problem)}"


def sentence(problem: WinProblemItem) -> str:
    """Return the question of a problem, see `win_question`."""
    moves = problem.moves if problem.moves is not None else problem.max_moves
    return filters.win_question(service.side_name(problem), moves, problem.condition)


@routes.get("/problems/feed.atom")
@allow_parameters()
async def feed(request: web.Request) -> web.Response:
    """Serve the feed of the newest problems and the latest problems of the month."""
    arena, base = arena_of(request), request.app[CONTEXT].settings.public_url.rstrip("/")

    def read() -> str:
        of_months = service.of_months(arena)
        latest = service.search(arena, WinProblemQuery(limit=30)).items
        items = {problem.id: problem for problem in [*of_months, *latest]}
        order = sorted(items.values(), key=lambda problem: problem.accepted_at or problem.created_at, reverse=True)
        at = (order[0].accepted_at or order[0].created_at) if order else datetime.now(UTC)
        given = {
            "base": base,
            "entries": [(problem, sentence(problem)) for problem in order],
            "at": at,
            "titles": {problem.family: language.translated(load(problem.family).title) for problem in order},
        }
        return aiohttp_jinja2.get_env(request.app).get_template("problems/problems.atom").render(given)

    response = web.Response(text=await run(read), content_type="application/atom+xml", charset="utf-8")
    return in_a_language(response, "public, max-age=60")


@routes.get("/{family}/problems/booklet.pdf")
@allow_parameters("layout", "language")
async def of_problems(request: web.Request) -> web.Response:
    """Serve the latest problems of a family as a booklet, with the solutions at its end."""
    rules, arena = path_family(request), arena_of(request)
    page = await run(service.search, arena, WinProblemQuery(family=rules.family, limit=MAX_PRINTED))
    problems = [await run(service.read, arena, item.id) for item in page.items]
    printed = [
        BookletProblem(
            service.ruleset_of(problem),
            problem.position,
            problem.moves or 0,
            service.solution_of(problem).text,
            problem.title or f"{problem.id}",
            problem.condition,
            problem.text,
        )
        for problem in problems
    ]
    return await booklet.respond(request, f"problems-{rules.family}", (), printed)


async def card(request: web.Request) -> Card | None:
    """Return the problems of the day, and that of the month, as a card of the front page."""
    days, month = await run(lambda: (service.of_today(arena_of(request)), service.of_month(arena_of(request))))
    if not days:
        return None
    shown = [*days, *([month] if month else [])]
    given = {
        "days": days,
        "month": month,
        "drawings": await run(lambda: {problem.id: drawing(problem) for problem in shown}),
        "sentences": {problem.id: sentence(problem) for problem in shown},
    }
    html = Markup(aiohttp_jinja2.render_string("problems/card.html", request, given))  # noqa: S704 - of a template
    return Card(html, {problem.family for problem in shown})


async def profile(request: web.Request, user: UserItem) -> Markup | None:
    """Return what a user has solved, for the page of the user."""
    families = await run(service.profile, arena_of(request), user.id)
    if not families:
        return None
    given = {"families": families}
    return Markup(aiohttp_jinja2.render_string("problems/profile.html", request, given))  # noqa: S704 - of a template
