"""Analyses of finished games and of single positions."""

from __future__ import annotations

from arena import services
from arena.api.registry import GameId, Number, Routes
from arena.documents.analysis import AnalysisRequest, AnalysisResponse, PositionRequest, PositionResponse
from arena.http.problem import PREFIX
from arena.http.request_context import RequestContext, RouteResult

routes = Routes()


@routes.get("/games/{game}/analysis", tag="analysis", summary="Get the analysis of a game", problems=("not-found",))
async def show(call: RequestContext, game: GameId) -> RouteResult[AnalysisResponse]:
    """Return the analysis of a game played here, or of an imported one by its ID; `state` is the progress."""
    return RouteResult(await call.run(services.analysis.read, call.arena, game), keep="never")


@routes.post(
    "/games/{game}/analysis",
    tag="analysis",
    summary="Request the analysis of a game",
    scope="read",
    problems=("not-found", "conflict", "invalid", "forbidden"),
)
async def ask(call: RequestContext, game: GameId, body: AnalysisRequest) -> RouteResult[AnalysisResponse]:
    """Queue the game for analysis, which begins within seconds, whatever is played. Requests of
    several users share the engine, one at a time for each.
    """
    found = await call.run(services.analysis.ask, call.arena, game, call.user, body.nodes)
    return RouteResult(found, keep="never", is_private=True)


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
    """Queue a position for the engine. Read the result again until `is_done`; shorter searches answer first."""
    line = await call.run(services.analysis.read_question, body)
    found = await call.run(services.analysis.ask_position, call.arena, line, call.user, body.nodes)
    headers = {"Location": f"{PREFIX}/analysis/positions/{found.id}"}
    return RouteResult(found, status=201, keep="never", headers=headers, is_private=True)


@routes.get("/analysis/positions/{number}", tag="analysis", summary="Get the evaluation of a position", scope="read")
async def read_answer(call: RequestContext, number: Number) -> RouteResult[PositionResponse]:
    """Return a position that you requested, with its evaluation once it is done. Both are kept for a day."""
    found = await call.run(services.analysis.read_answer, call.arena, number, call.user)
    return RouteResult(found, keep="never", is_private=True)
