"""The board on which a problem is solved, by forms or by its script, and the problems that a visitor has tried."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from arena.documents.account import Identity
from arena.errors import BadValueError, NotFoundError
from arena.features.problems import service
from arena.features.problems.documents import AttemptResponse, WinProblemItem, WinProblemResponse
from arena.features.problems.pages.problems import label, sentence
from arena.features.problems.service import ProblemLine, follow
from arena.http.identity import give_cookie, read_cookie, session_of
from arena.http.problem import as_json
from arena.http.request_context import CONTEXT
from arena.pages import language
from arena.pages.drawing import board
from arena.pages.drawing.chart import chart, legend
from arena.pages.drawing.scene import Scene
from arena.pages.html_table import choice, number
from arena.pages.page import (
    ANALYSIS_LINES,
    allow_parameters,
    arena_of,
    error_sentence,
    path_family,
    path_number,
    redirect,
    render,
    run,
    run_use_case,
)
from arena.pages.session import checked_form, own_form
from arena.pages.viewer import grid, legal_as_json, piece_key
from arena.services.arena import Arena
from referee.errors import ArenaError
from referee.rules.position import Position
from referee.solver.tree import Tree

routes = web.RouteTableDef()
MAX_SHOWN = 400
"""Maximum number of moves of a solution that a page shows."""
_MAX_LINE = 400
"""Maximum length of the text of a line of play."""
TRIED_COOKIE = "arena-problems"
"""The problems that a browser without an account has tried, latest last."""
MAX_TRIED = 100
_NUMBERS = re.compile(r"[0-9]{1,9}(-[0-9]{1,9})*", re.ASCII)
_YEAR_S = 365 * 24 * 3600
_MINED_SOURCE = re.compile(r"(?:(.+), )?ply ([0-9]+)")


def source_of(problem: WinProblemItem) -> str:
    """Return where a problem comes from; `arena problems find` writes `PLAYERS, ply NUMBER`."""
    match = _MINED_SOURCE.fullmatch(problem.source)
    if match is None:
        return problem.source
    players, ply = match.groups()
    if not players:
        return language.text("ply %(number)s") % {"number": ply}
    return language.text("%(title)s, ply %(ply)s") % {"title": players, "ply": ply}


@routes.get("/{family}/problems/next")
@allow_parameters("after")
async def next_(request: web.Request) -> web.Response:
    """Redirect to an untried problem near the visitor's strength, other than that of `?after=`."""
    rules = path_family(request)
    tried = [*_tried(request), number(request.query, "after", 0, low=1, high=10**9)]
    identity = await session_of(request)
    try:
        problem = await run(service.next_problem, arena_of(request), rules.family, identity, tried)
    except NotFoundError:
        return redirect(f"/{rules.family}/problems?tried=all")
    return redirect(f"/problems/{problem.id}")


@routes.get("/{family}/problems/daily")
@allow_parameters()
async def daily(request: web.Request) -> web.Response:
    """Redirect to the problem of the day."""
    rules = path_family(request)
    problem = await run(service.of_day, arena_of(request), rules.family)
    return redirect(f"/problems/{problem.id}" if problem else f"/{rules.family}/problems")


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
    return await run(service.read, arena_of(request), path_number(request, "number", "problem"), identity), identity


@routes.get("/problems/{number}")
@allow_parameters("line", "flip", "show")
async def show(request: web.Request) -> web.Response:
    """Show the position after `?line=`. `?show=solution` shows the solution to those whose first attempt is decided."""
    problem, identity = await _read(request)
    asked = choice(request.query, "show", ("solution",)) == "solution"
    may = identity is None or problem.attempt is not None or identity.user_id == problem.created_by
    message, moves = "", request.query.get("line", "")[:_MAX_LINE].split()
    try:
        line = await run_use_case(follow, problem, moves)
    except BadValueError as error:
        message, line = error_sentence(error), await run_use_case(follow, problem, ())
    return await _render(request, _View(problem, line, message, shows=asked and may))


async def _render(request: web.Request, view: _View, status: int = 200) -> web.Response:
    problem, line = view.problem, view.line
    ruleset, rules = line.study.ruleset, line.study.ruleset.rules
    shown = line.study.moves[:-1] if line.wrong else line.study.moves
    identity = await session_of(request)
    scenes = await run_use_case(request.app[ANALYSIS_LINES].scenes, ruleset, line.study.start, shown)
    scene, flip = scenes[-1], choice(request.query, "flip", ("0", "1"), "0") == "1"
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
        text=" ".join(shown),
        left=max(0, (problem.moves or 0) - len(shown) // 2),
        drawing=board.svg(rules, scene, label=label(problem), flip=flip),
        sprites=board.sprites([rules]),
        legend=legend(rules, scene),
        grid=grid(rules, scene),
        piece_key=piece_key(rules),
        solution=await run_use_case(_solution, problem) if view.shows and problem.is_open else None,
        is_daily=await run_use_case(_is_daily, arena_of(request), problem),
        streak=(await run_use_case(service.streaks, arena_of(request), identity)).get(rules.family, 0),
        may_remove=identity is not None and service.may_remove(problem, identity),
    )


def _is_daily(arena: Arena, problem: WinProblemResponse) -> bool:
    daily = service.of_day(arena, problem.family)
    return daily is not None and daily.id == problem.id


def _solution(problem: WinProblemResponse) -> dict[str, Any]:
    """Return the solution as the page shows it: its text, and its moves as nested lists."""
    ruleset = service.ruleset_of(problem)
    start = Position.start(ruleset, problem.position)
    return {"text": service.solution_of(problem).text, "tree": _nested(start, problem.tree, (), [MAX_SHOWN])}


def _nested(position: Position, tree: Tree, line: tuple[str, ...], left: list[int]) -> list[dict[str, Any]]:
    """Return the moves of a tree, each with its text, its `?line=` and the moves after it.

    `left[0]` is the number of moves that may still be listed; it is reduced by those listed here.
    """
    moves = []
    for move, rest in tree.items():
        if left[0] <= 0:
            break
        left[0] -= 1
        path = (*line, move)
        after = _nested(position.play(move), rest, path, left) if rest else []
        shown = position.display(position.read(move))
        moves.append({"shown": shown, "line": " ".join(path), "after": after, "is_end": not rest})
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
    if answer.attempt is None or problem.attempt is not None:
        return text
    before, after = language.number(answer.attempt.rating_before, 1), language.number(answer.attempt.rating, 1)
    return f"{text} " + language.text("Your strength: %(before)s → %(after)s.") % {"before": before, "after": after}


def _displayed(problem: WinProblemResponse, moves: Sequence[str]) -> str:
    """Return the last move of a line as people write it."""
    ruleset = service.ruleset_of(problem)
    position = Position.start(ruleset, problem.position).play_all(moves[:-1])
    return position.display(position.read(moves[-1]))


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
    cells = chart(line.study.ruleset.rules, (await _drawn(request, line))[0])
    body = {**await _scenes(request, line, -1), "chart": cells}
    response = web.json_response(body, dumps=as_json, headers={"Cache-Control": "no-cache"})
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
