"""Analyses of finished games and of single positions."""

from __future__ import annotations

from arena import services
from arena.api.registry import Routes
from arena.api.schemas import GameId, Number
from arena.api.schemas.analysis import (
    AnalysisRequest,
    AnalysisResponse,
    PositionEvaluation,
    PositionRequest,
    PositionResponse,
)
from arena.http.api_paths import PREFIX
from arena.http.request_context import RequestContext, RouteResult
from arena.services.analysis import AnalysisStatus, PositionQuery
from arena.store.base.models import QueuedAnalysis

routes = Routes()


@routes.get("/games/{game}/analysis", tag="analysis", summary="Get the analysis of a game", problems=("not-found",))
async def show(call: RequestContext, game: GameId) -> RouteResult[AnalysisResponse]:
    """Return the analysis of a game played here, or of an imported one by its ID; `state` is the progress."""
    if await call.run(call.store.archive.serial_of, game) is None:
        await call.run(call.store.games.get, game)
    return RouteResult(_document(await call.run(services.analysis.read, call.arena, game)), keep="never")


@routes.post(
    "/games/{game}/analysis",
    tag="analysis",
    summary="Request the analysis of a game",
    scope="read",
    problems=("not-found", "conflict", "invalid", "forbidden"),
)
async def ask(call: RequestContext, game: GameId, body: AnalysisRequest) -> RouteResult[AnalysisResponse]:
    """Queue the game ahead of automatic analyses. The engine runs while no game is played."""
    found = await call.run(services.analysis.ask, call.arena, game, call.user, body.nodes)
    return RouteResult(_document(found), keep="never", is_private=True)


def _document(found: AnalysisStatus) -> AnalysisResponse:
    about = {name: value for name, value in found.data.items() if name != "game"}
    return AnalysisResponse.model_validate(
        {"game": found.game_id, "state": found.state, "problem": found.problem, **about}
    )


@routes.post(
    "/analysis/positions",
    tag="analysis",
    summary="Request the evaluation of a position",
    scope="read",
    status=201,
    problems=("invalid", "forbidden"),
    example="""/api/v1/analysis/positions -d '{"family": "loa", "moves": "b1b3 h4f2"}'""",
)
async def ask_position(call: RequestContext, body: PositionRequest) -> RouteResult[PositionResponse]:
    """Queue a position. The engine runs while no game is played; read the result again until `is_done`."""
    question = PositionQuery(**body.model_dump(exclude={"nodes"}))
    line = await call.run(services.analysis.read_question, question)
    found = await call.run(services.analysis.ask_position, call.arena, line, call.user, body.nodes)
    headers = {"Location": f"{PREFIX}/analysis/positions/{found.id}"}
    return RouteResult(_answer(found), status=201, keep="never", headers=headers, is_private=True)


@routes.get("/analysis/positions/{number}", tag="analysis", summary="Get the evaluation of a position", scope="read")
async def read_answer(call: RequestContext, number: Number) -> RouteResult[PositionResponse]:
    """Return your request for a position and its answer. Both are kept for a day."""
    found = await call.run(services.analysis.read_answer, call.arena, number, call.user)
    return RouteResult(_answer(found), keep="never", is_private=True)


def _answer(found: QueuedAnalysis) -> PositionResponse:
    return PositionResponse(
        id=found.id or 0,
        is_done=found.is_done,
        problem=found.problem,
        answer=PositionEvaluation.model_validate(found.answer) if found.is_done else None,
    )
