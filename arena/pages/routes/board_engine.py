"""The engine on the analysis board: evaluations while people move, and an analysis that they wait for."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from aiohttp import web

from arena import services
from arena.analysis.engine_jobs import EngineBusyError
from arena.http.identity import session_of
from arena.http.problem import as_json
from arena.http.request_context import IDENTITY, charge
from arena.pages import filters, language
from arena.pages.drawing import board
from arena.pages.drawing.scene import Scene
from arena.pages.html_table import number
from arena.pages.page import (
    ANALYSIS_LINES,
    allow_parameters,
    arena_of,
    path_family,
    path_number,
    redirect,
    render,
    run,
    run_use_case,
)
from arena.pages.routes.board_line import LINE_PARAMETERS, read_line
from arena.pages.session import checked_form
from referee.game.record import read_record, ruleset_of
from referee.rules.position import Position

routes = web.RouteTableDef()
_FIRST_NODES, _MAX_NODES = 2_000, 10_000_000
_NODES_PER_TOKEN = 100_000
"""Nodes of an evaluation that count as one request."""
_MAX_LINES = 5
_MAX_LINE_MOVES = 8
"""Number of moves of an evaluation's variation."""
_MAX_DRAWN_MOVES = 4
"""Number of moves drawn of an analysis's variation."""


@routes.post("/{family}/board/question")
async def ask(request: web.Request) -> web.Response:
    """Request an analysis of the position at the end of the line, for logged-in users."""
    rules = path_family(request)
    await checked_form(request)
    line = await read_line(request, rules)
    question = await run_use_case(services.analysis.ask_position, arena_of(request), line.study, request[IDENTITY])
    return redirect(f"/{rules.family}/board/questions/{question.id}")


@routes.get("/{family}/board/questions/{question}")
@allow_parameters()
async def answer(request: web.Request) -> web.Response:
    """Show an analysis to the user who requested it, for a day. The page reloads itself until the analysis is done."""
    rules = path_family(request)
    number_of = path_number(request, "question", "analysis")
    identity = await session_of(request)
    if identity is None:
        return redirect(f"/login?next={request.rel_url.raw_path}")
    question = await run(services.analysis.read_answer, arena_of(request), number_of, identity)
    record = read_record(question.record)
    if record.family != rules.family:
        return redirect(f"/{record.family}/board/questions/{number_of}")
    ruleset = await run_use_case(ruleset_of, record)
    scenes: list[Scene] = []
    if question.answer:
        end = await run_use_case(Position.start(ruleset, record.position).play_all, record.moves)
        expected = (question.answer.line or [question.answer.best])[:_MAX_DRAWN_MOVES]
        legal = await run_use_case(_legal_beginning, end, expected)
        moves = [*record.moves, *(move["move"] for move in legal)]
        lines = await run_use_case(request.app[ANALYSIS_LINES].scenes, ruleset, record.position, moves)
        scenes = lines[len(record.moves) + 1 :]
    return render(
        request,
        "question.html",
        keep="no-store",
        rules=rules,
        sprites=board.sprites([rules]),
        found=question,
        side=ruleset.sides[question.answer is not None and question.answer.side == "second"],
        drawings=[
            (
                scene.move,
                board.svg(
                    rules, scene, label=language.text("Board after %(move)s") % {"move": scene.move}, is_small=True
                ),
            )
            for scene in scenes
        ],
    )


@routes.get("/{family}/board/evaluation.json")
@allow_parameters(*LINE_PARAMETERS, "nodes", "lines")
async def evaluate(request: web.Request) -> web.Response:
    """Evaluate the end of the line with `?nodes=`, and with up to `?lines=` moves, the best first.

    Winning chances and scores are those of the first side.

    The answer is `{"is_busy": true}` if the engine has no time now, and empty if the game is over.
    """
    line = await read_line(request, path_family(request))
    nodes = number(request.query, "nodes", _FIRST_NODES, low=0, high=_MAX_NODES)
    count = number(request.query, "lines", 1, low=1, high=_MAX_LINES)
    # The further lines together take about as long as the first.
    await charge(request, (nodes if count == 1 else 2 * nodes) / _NODES_PER_TOKEN)
    end = line.study.end
    if end.outcome is not None:
        return web.json_response({}, headers={"Cache-Control": "no-store"})
    try:
        best, others = await run_use_case(services.analysis.evaluate_now, arena_of(request), line.study, nodes, count)
    except EngineBusyError:
        return web.json_response({"is_busy": True}, headers={"Cache-Control": "no-store"})
    sign = 1 if best.side == "first" else -1
    lines = [(best.score, best.line or [best.best]), *((other.score, other.line) for other in others)]
    body = {
        "depth": best.depth,
        "chance": None if best.winning_chances is None else sign * best.winning_chances,
        "engine": best.engine,
        "lines": [
            {
                "score": filters.score(None if score is None else sign * score),
                "moves": await run_use_case(_legal_beginning, end, moves[:_MAX_LINE_MOVES]),
            }
            for score, moves in lines
        ],
    }
    return web.json_response(body, dumps=as_json, headers={"Cache-Control": "no-store"})


def _legal_beginning(at: Position, line: Sequence[str]) -> list[dict[str, str]]:
    """Return the legal beginning of a variation, each move in canonical (`move`) and displayed (`shown`) notation.

    A bot wrote it, so it may contain illegal moves.
    """
    moves = []
    with suppress(ValueError):
        for move in line:
            code = at.read(move)
            moves.append({"move": at.ruleset.rules.notation.write_move(code), "shown": at.display(code)})
            at = at.play(code)
    return moves
