"""Problems: lists with the leaderboard of solvers, the board on which one is solved, and the form that adds one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import aiohttp_jinja2
from aiohttp import web
from markupsafe import Markup

from arena import services
from arena.documents.account import Identity
from arena.documents.query import PageResponse
from arena.documents.table import Column, text_column
from arena.errors import BadValueError, NotFoundError
from arena.features.problems import service
from arena.features.problems.documents import (
    AttemptResponse,
    SolverLine,
    SolverQuery,
    WinProblemItem,
    WinProblemQuery,
    WinProblemRequest,
    WinProblemResponse,
)
from arena.features.problems.service import ProblemLine, follow
from arena.http.identity import give_cookie, read_cookie, session_of
from arena.http.problem import as_json
from arena.http.request_context import CONTEXT
from arena.pages import filters, language
from arena.pages.drawing import board
from arena.pages.drawing.booklet import BookletProblem
from arena.pages.drawing.scene import Scene, Scenes
from arena.pages.html_table import HtmlTable, choice
from arena.pages.html_table import number as whole_number
from arena.pages.page import (
    ANALYSIS_LINES,
    Card,
    allow_parameters,
    arena_of,
    error_sentence,
    in_a_language,
    path_family,
    path_number,
    read_fields,
    redirect,
    render,
    run,
    run_use_case,
)
from arena.pages.query_form import NOT_IN_FORMS, form_names
from arena.pages.query_form import read_form as read_query
from arena.pages.routes import booklet
from arena.pages.routes.game import grid, legal_as_json, piece_key
from arena.pages.session import checked_form, own_form
from referee.errors import ArenaError
from referee.rules import load
from referee.rules.position import Position
from referee.rules.rules import Rules
from referee.solver.tree import Tree

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
MAX_SHOWN = 400
"""Maximum number of moves of a solution that a page shows."""
_MAX_LINE = 400
"""Maximum length of the text of a line of play."""
_NOT_IN_FORM = (*NOT_IN_FORMS, "state", "author")
TRIED_COOKIE = "arena-problems"
"""The problems that a browser without an account has tried, latest last."""
MAX_TRIED = 100
_NUMBERS = re.compile(r"[0-9]{1,9}(-[0-9]{1,9})*", re.ASCII)
_YEAR_S = 365 * 24 * 3600
_MINED_SOURCE = re.compile(r"(?:(.+), )?ply ([0-9]+)")
_FIELDS = ("position", "variant", "options", "max_moves", "condition", "title", "text", "source")


# -- lists -------------------------------------------------------------------------------------------------------------


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
    form = read_query(
        request, WinProblemQuery, without=_NOT_IN_FORM, after=request.query.get("after"), limit=PER_PAGE, **known
    )
    arena, identity = arena_of(request), await session_of(request)
    page = await run(service.search, arena, form.query)
    month = None if rules else await run(service.of_month, arena)
    drawn = await run(_drawings, [*page.items, *([month] if month else [])])
    return render(
        request,
        "problems/problems.html",
        rules=rules,
        form=form,
        found=page,
        month=month,
        are_all_tried=choice(request.query, "tried", ("all",)) == "all",
        drawings=drawn,
        sentences={problem.id: sentence(problem) for problem in [*page.items, *([month] if month else [])]},
        solvers=HtmlTable(
            _SOLVERS, await run(_solvers, arena, rules), css=lambda line: "quiet" if line.is_provisional else ""
        ),
        rating=await run(service.rating, arena, rules.family, identity) if rules and identity else None,
        sprites=board.sprites({name: load(name) for name in _families(page, month)}.values()),
    )


def _families(found: PageResponse[WinProblemItem], month: WinProblemItem | None) -> list[str]:
    return sorted({one.family for one in [*found.items, *([month] if month else [])]})


def _solvers(arena: services.Arena, rules: Rules | None) -> Sequence[SolverLine]:
    return service.solvers(arena, SolverQuery(family=rules.family, limit=10)).items if rules else ()


def _drawings(problems: Sequence[WinProblemItem]) -> dict[int, Markup]:
    """Draw the positions of problems, by number."""
    return {problem.id: drawing(problem) for problem in problems}


def drawing(problem: WinProblemItem) -> Markup:
    """Draw the position of a problem in a small board."""
    ruleset = load(problem.family).settle(problem.variant, problem.options)
    scene = Scenes(ruleset, problem.position).items[0]
    return board.svg(ruleset.rules, scene, label=_label(problem), is_small=True)


def _label(problem: WinProblemItem) -> str:
    """Return the alternative text for the drawing of a problem."""
    return f"{language.translated(load(problem.family).title)} – {sentence(problem)}"


def sentence(problem: WinProblemItem) -> str:
    """Return the question of a problem, see `win_question`."""
    moves = problem.moves if problem.moves is not None else problem.max_moves
    return filters.win_question(service.side_name(problem), moves, problem.condition)


def source_of(problem: WinProblemItem) -> str:
    """Return where a problem comes from; `arena problems find` writes `PLAYERS, ply NUMBER`."""
    match = _MINED_SOURCE.fullmatch(problem.source)
    if match is None:
        return problem.source
    players, ply = match.groups()
    if not players:
        return language.text("ply %(number)s") % {"number": ply}
    return language.text("%(title)s, ply %(ply)s") % {"title": players, "ply": ply}


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
        entries = [(problem, sentence(problem)) for problem in order]
        given = {
            "base": base,
            "entries": entries,
            "at": at,
            "titles": {problem.family: language.translated(load(problem.family).title) for problem in order},
        }
        return aiohttp_jinja2.get_env(request.app).get_template("problems/problems.atom").render(given)

    response = web.Response(text=await run(read), content_type="application/atom+xml", charset="utf-8")
    return in_a_language(response, "public, max-age=60")


@routes.get("/{family}/problems/next")
@allow_parameters("after")
async def next_(request: web.Request) -> web.Response:
    """Redirect to an untried problem near the visitor's strength, other than that of `?after=`."""
    rules = path_family(request)
    tried = [*_tried(request), whole_number(request.query, "after", 0, low=1, high=10**9)]
    identity = await session_of(request)
    try:
        problem = await run(service.next_problem, arena_of(request), rules.family, identity, tried)
    except NotFoundError:
        return redirect(f"/{rules.family}/problems?tried=all")
    return redirect(f"/problems/{problem.id}")


def _tried(request: web.Request) -> list[int]:
    """Return the problems that this browser has tried without an account, latest last."""
    kept = read_cookie(request, TRIED_COOKIE)
    return [int(one) for one in kept.split("-")][-MAX_TRIED:] if _NUMBERS.fullmatch(kept) else []


def _remember(request: web.Request, response: web.Response, number: int, by: Identity | None) -> web.Response:
    """Remember in the browser of a visitor without an account that they have tried a problem."""
    tried = _tried(request)
    if by is None and number not in tried:
        kept = "-".join(map(str, [*tried, number][-MAX_TRIED:]))
        give_cookie(response, request.app[CONTEXT], TRIED_COOKIE, kept, _YEAR_S)
    return response


# -- solving -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _View:
    """A problem and the line that the page shows. `hints` are cells to mark. If `shows`, the solution is shown too."""

    problem: WinProblemResponse
    line: ProblemLine
    message: str = ""
    hints: Sequence[str] = ()
    shows: bool = False


async def _read(request: web.Request) -> tuple[WinProblemResponse, Identity | None]:
    identity = await session_of(request)
    number = path_number(request, "number", "problem")
    return await run(service.read, arena_of(request), number, identity), identity


@routes.get("/problems/{number}")
@allow_parameters("line", "flip", "show")
async def show(request: web.Request) -> web.Response:
    """Show the position after `?line=`. `?show=solution` shows the solution to those whose first attempt is decided."""
    problem, identity = await _read(request)
    asked = choice(request.query, "show", ("solution",)) == "solution"
    may = identity is None or problem.attempt is not None or identity.user_id == problem.created_by
    message, line = "", ()
    try:
        followed = await run_use_case(follow, problem, request.query.get("line", "")[:_MAX_LINE].split())
    except BadValueError as error:
        message = error_sentence(error)
        followed = await run_use_case(follow, problem, line)
    return await _render(request, _View(problem, followed, message, shows=asked and may))


async def _render(request: web.Request, view: _View, status: int = 200) -> web.Response:
    problem, line = view.problem, view.line
    ruleset, rules = line.study.ruleset, line.study.ruleset.rules
    shown = line.study.moves[:-1] if line.wrong else line.study.moves
    identity = await session_of(request)
    scenes = await run_use_case(request.app[ANALYSIS_LINES].scenes, ruleset, line.study.start, shown)
    scene, flip = scenes[-1], choice(request.query, "flip", ("0", "1"), "0") == "1"
    text = " ".join(shown)
    return render(
        request,
        "problems/board.html",
        status=status,
        keep="no-store",
        problem=problem,
        question=sentence(problem),
        source=source_of(problem),
        rules=rules,
        ruleset=ruleset,
        scene=scene,
        scenes=scenes,
        flip=flip,
        message=view.message,
        hints=view.hints,
        is_solved=line.is_solved and problem.is_open,
        text=text,
        left=max(0, (problem.moves or 0) - len(shown) // 2),
        drawing=board.svg(rules, scene, label=_label(problem), flip=flip),
        sprites=board.sprites([rules]),
        legend=board.legend(rules, scene),
        grid=grid(rules, scene),
        piece_key=piece_key(rules),
        solution=await run_use_case(_solution, problem) if view.shows and problem.is_open else None,
        may_remove=identity is not None and service.may_remove(problem, identity),
    )


def _solution(problem: WinProblemResponse) -> dict[str, Any]:
    """Return the solution as the page shows it: its text, and its moves as nested lists."""
    ruleset = load(problem.family).settle(problem.variant, problem.options)
    start = Position.start(ruleset, problem.position)
    counter = [MAX_SHOWN]
    return {"text": service.solution_of(problem).text, "tree": _nested(start, problem.tree, (), counter)}


def _nested(position: Position, tree: Tree, line: tuple[str, ...], left: list[int]) -> list[dict[str, Any]]:
    """Return the moves of a tree, each with its text, its `?line=` and the moves after it.

    `left[0]` is the number of moves that may still be listed; it is reduced by those listed here.
    """
    moves = []
    for move, rest in tree.items():
        if left[0] <= 0:
            break
        left[0] -= 1
        code = position.ruleset.rules.notation.read_move(move, position.state, position.ruleset.config)
        path = (*line, move)
        after = _nested(position.play(move), rest, path, left) if rest else []
        moves.append({"shown": position.display(code), "line": " ".join(path), "after": after, "is_end": not rest})
    return moves


@routes.post("/problems/{number}")
async def solve(request: web.Request) -> web.Response:
    """Handle the form of the board: a move, a hint, or the solution."""
    fields = await own_form(request)
    problem, identity = await _read(request)
    moves = fields.get("line", "")[:_MAX_LINE].split()
    wish, arena = fields.get("do", "move"), arena_of(request)
    try:
        if wish == "hint":
            hints = await run_use_case(service.hint, arena, problem.id, moves, identity)
            line = await run_use_case(follow, problem, moves)
            page = await _render(request, _View((await _read(request))[0], line, hints=hints.cells))
            return _remember(request, page, problem.id, identity)
        if wish == "solution":
            await run_use_case(service.solution, arena, problem.id, identity)
            line = await run_use_case(follow, problem, ())
            page = await _render(request, _View((await _read(request))[0], line, shows=True))
            return _remember(request, page, problem.id, identity)
        answer = await run_use_case(
            service.attempt, arena, problem.id, [*moves, *fields.get("move", "").split()], identity
        )
    except ArenaError as error:
        if error.status >= 500:
            raise
        line = await run_use_case(_followed, problem, moves)
        return await _render(request, _View(problem, line, error_sentence(error)), error.status)
    if answer.state == "wrong":
        line = await run_use_case(follow, problem, moves)
        fresh, _ = await _read(request)
        page = await _render(request, _View(fresh, line, _verdict(answer, problem)))
        return _remember(request, page, problem.id, identity)
    address = request.rel_url.with_path(f"/problems/{problem.id}").with_query(line=" ".join(answer.moves))
    page = redirect(str(address))
    return _remember(request, page, problem.id, identity) if answer.state == "solved" else page


@routes.post("/problems/{number}/remove")
async def remove(request: web.Request) -> web.Response:
    """Remove a problem for its author or an organiser."""
    await checked_form(request)
    problem, identity = await _read(request)
    await run_use_case(service.remove, arena_of(request), problem.id, identity)
    return redirect(f"/{problem.family}/problems")


@routes.post("/problems/{number}/month")
async def choose_of_month(request: web.Request) -> web.Response:
    """Make this the problem of the present month, for organisers."""
    await checked_form(request)
    problem, identity = await _read(request)
    await run_use_case(service.choose_of_month, arena_of(request), problem.id, None, identity)
    return redirect(f"/problems/{problem.id}")


def _followed(problem: WinProblemResponse, moves: Sequence[str]) -> ProblemLine:
    """Return the line, or the start for a line that is not in the solution."""
    try:
        return follow(problem, moves)
    except BadValueError:
        return follow(problem, ())


def _verdict(answer: AttemptResponse, problem: WinProblemResponse) -> str:
    """Describe the answer to a move in words."""
    if answer.state == "continue":
        return language.text("Right. Moves left: %(count)s.") % {"count": answer.left}
    if answer.state == "solved":
        text = language.text("Solved.")
    else:
        text = language.texts(
            "%(move)s does not win in %(count)s. Try again.",
            "%(move)s does not win in %(count)s. Try again.",
            problem.moves or 0,
        ) % {"move": _displayed(problem, answer.moves), "count": problem.moves}
    if answer.attempt is None:
        return text
    if problem.attempt is not None:
        return text
    before, after = language.number(answer.attempt.rating_before, 1), language.number(answer.attempt.rating, 1)
    return f"{text} " + language.text("Your strength: %(before)s → %(after)s.") % {"before": before, "after": after}


def _displayed(problem: WinProblemResponse, moves: Sequence[str]) -> str:
    """Return the last move of a line as people write it."""
    ruleset = load(problem.family).settle(problem.variant, problem.options)
    position = Position.start(ruleset, problem.position)
    for move in moves[:-1]:
        position = position.play(move)
    return position.display(ruleset.rules.notation.read_move(moves[-1], position.state, ruleset.config))


@routes.post("/problems/{number}/move.json")
async def move(request: web.Request) -> web.Response:
    """Answer a move sent by the page's script: the scenes that follow, and a verdict on the move."""
    fields = await own_form(request)
    problem, identity = await _read(request)
    moves = fields.get("line", "")[:_MAX_LINE].split()
    answer = await run_use_case(
        service.attempt, arena_of(request), problem.id, [*moves, *fields.get("move", "").split()], identity
    )
    kept = moves if answer.state == "wrong" else list(answer.moves)
    line = await run_use_case(follow, problem, kept)
    body = {"state": answer.state, "message": _verdict(answer, problem), **await _scenes(request, line, len(moves))}
    response = web.json_response(body, dumps=as_json, headers={"Cache-Control": "no-store"})
    return response if answer.state == "continue" else _remember(request, response, problem.id, identity)


@routes.get("/problems/{number}/scenes.json")
@allow_parameters("line")
async def scenes(request: web.Request) -> web.Response:
    """Return the scenes of a line, the legal moves at its end, and the cells of the board."""
    problem, _ = await _read(request)
    line = await run_use_case(_followed, problem, request.query.get("line", "")[:_MAX_LINE].split())
    body = await _scenes(request, line, -1)
    rules = line.study.ruleset.rules
    chart = board.chart(rules, (await _drawn(request, line))[0].board)
    response = web.json_response({**body, "chart": chart}, dumps=as_json, headers={"Cache-Control": "no-cache"})
    response.enable_compression()
    return response


async def _drawn(request: web.Request, line: ProblemLine) -> list[Scene]:
    found = line.study
    return await run_use_case(request.app[ANALYSIS_LINES].scenes, found.ruleset, found.start, found.moves)


async def _scenes(request: web.Request, line: ProblemLine, after: int) -> Mapping[str, Any]:
    """Return the scenes after `after` plies, and the legal moves if the problem is not solved."""
    drawn = await _drawn(request, line)
    return {
        "line": " ".join(line.study.moves),
        "scenes": [one.as_json() for one in drawn[after + 1 :]],
        "legal": [] if line.is_solved else await run_use_case(legal_as_json, line.study.end),
    }


# -- setting -----------------------------------------------------------------------------------------------------------


@routes.get("/{family}/problems/new")
@allow_parameters("position", "variant", "options")
async def form(request: web.Request) -> web.Response:
    """Show the form that adds a problem; `?position=` is the position to begin with."""
    return await _form(request, path_family(request), request.query)


async def _form(
    request: web.Request, rules: Rules, given: Mapping[str, str], problem: str = "", status: int = 200
) -> web.Response:
    fields = {name: given.get(name, "")[:1000] for name in _FIELDS}
    try:
        ruleset = await run_use_case(services.study.settle, rules.family, fields["variant"], fields["options"])
        study = await run_use_case(services.study.read, ruleset, fields["position"], ())
    except BadValueError as error:
        problem = problem or error_sentence(error)
        ruleset = await run_use_case(services.study.settle, rules.family, "", "")
        study = await run_use_case(services.study.read, ruleset, "", ())
    scene = (await run_use_case(request.app[ANALYSIS_LINES].scenes, ruleset, study.start, ()))[0]
    options = services.study.options_text(ruleset)
    counters = getattr(rules.kernel, "COUNTERS", ())
    return render(
        request,
        "problems/form.html",
        status=status,
        keep="no-store",
        rules=rules,
        ruleset=ruleset,
        scene=scene,
        given={**fields, "position": study.start, "options": options},
        counters=tuple(counters),
        palette=board.chart(rules, scene.board)["pieces"] if rules.position_setup else {},
        variants=[variant.name for variant in rules.variants],
        drawing=board.svg(rules, scene, label=language.text("Position of the problem")),
        sprites=board.sprites([rules]),
        problem=problem,
    )


@routes.post("/{family}/problems/new")
async def add(request: web.Request) -> web.Response:
    """Store a problem, which the solver will check, and redirect to its page."""
    rules = path_family(request)
    fields = await checked_form(request)
    try:
        wish = read_fields(
            WinProblemRequest,
            family=rules.family,
            position=fields.get("position", ""),
            variant=fields.get("variant") or None,
            max_moves=_whole(fields.get("max_moves", "")),
            **{
                name: fields.get(name, "").replace("\r", "")
                for name in ("options", "condition", "title", "text", "source")
            },
        )
        added = await run_use_case(service.add, arena_of(request), wish, await session_of(request))
    except ArenaError as error:
        if error.status >= 500:
            raise
        return await _form(request, rules, fields, error_sentence(error), error.status)
    return redirect(f"/problems/{added.id}")


def _whole(text: str) -> int | str:
    """Return a number of a form; any other text is returned as it is, so that validation names the field."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 4 else text


# -- booklets and the card of the front page --------------------------------------------------------------------------


@routes.get("/{family}/problems/booklet.pdf")
@allow_parameters("layout", "language")
async def of_problems(request: web.Request) -> web.Response:
    """Serve the latest problems of a family as a booklet, with the solutions at its end."""
    rules, arena = path_family(request), arena_of(request)
    query = WinProblemQuery(family=rules.family, limit=MAX_PRINTED)
    page = await run(service.search, arena, query)
    problems = [await run(service.read, arena, item.id) for item in page.items]
    printed = [
        BookletProblem(
            load(problem.family).settle(problem.variant, problem.options),
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
    """Return the problem of the month as a card of the front page."""
    problem = await run(service.of_month, arena_of(request))
    if problem is None:
        return None
    given = {"problem": problem, "drawing": await run(drawing, problem), "question": sentence(problem)}
    html = Markup(aiohttp_jinja2.render_string("problems/card.html", request, given))  # noqa: S704 - of a template
    return Card(html, (problem.family,))
