"""Analyses: of games that are over, and of one position somebody asks about."""

from __future__ import annotations

from arena import services
from arena.api.registry import Routes
from arena.api.schemas import GameId, Number
from arena.api.schemas.analysis import AnalysisDocument, AnalysisWish, QuestionDocument, QuestionWish, Thought
from arena.http.api_paths import PREFIX
from arena.http.request_context import RequestContext, RouteResult
from arena.services.analysis import GameAnalysis, Question
from arena.store.models import AnalysisRequest

routes = Routes()


@routes.get("/games/{game}/analysis", tag="analysis", summary="What a judge thought of a game", problems=("not-found",))
async def show(call: RequestContext, game: GameId) -> RouteResult[AnalysisDocument]:
    """The analysis of a game played here, or of an imported one by its id; `state` says how far it is."""
    if await call.run(call.store.archive.serial_of, game) is None:
        await call.run(call.store.games.get, game)
    return RouteResult(_document(await call.run(services.analysis.read, call.arena, game)), keep="never")


@routes.post(
    "/games/{game}/analysis",
    tag="analysis",
    summary="Have a game analysed",
    scope="read",
    problems=("not-found", "conflict", "invalid", "forbidden"),
)
async def ask(call: RequestContext, game: GameId, body: AnalysisWish) -> RouteResult[AnalysisDocument]:
    """Puts it before what is analysed unasked; the judge is asked while no game is played."""
    found = await call.run(services.analysis.ask, call.arena, game, call.user, body.nodes)
    return RouteResult(_document(found), keep="never", is_private=True)


def _document(found: GameAnalysis) -> AnalysisDocument:
    about = {name: value for name, value in found.data.items() if name != "game"}
    return AnalysisDocument.model_validate(
        {"game": found.game_id, "state": found.state, "problem": found.problem, **about}
    )


@routes.post(
    "/questions",
    tag="analysis",
    summary="Ask what the judge thinks of a position",
    scope="read",
    status=201,
    problems=("invalid", "forbidden"),
    example="""/api/v1/questions -d '{"family": "loa", "moves": "b1b3 h4f2"}'""",
)
async def ask_position(call: RequestContext, body: QuestionWish) -> RouteResult[QuestionDocument]:
    """The judge answers while no game is played: read the question again until `is_done`."""
    question = Question(**body.model_dump(exclude={"nodes"}))
    line = await call.run(services.analysis.read_question, question)
    found = await call.run(services.analysis.ask_position, call.arena, line, call.user, body.nodes)
    headers = {"Location": f"{PREFIX}/questions/{found.id}"}
    return RouteResult(_answer(found), status=201, keep="never", headers=headers, is_private=True)


@routes.get("/questions/{number}", tag="analysis", summary="What became of a question", scope="read")
async def read_answer(call: RequestContext, number: Number) -> RouteResult[QuestionDocument]:
    """A question of one's own, for a day."""
    found = await call.run(services.analysis.read_answer, call.arena, number, call.user)
    return RouteResult(_answer(found), keep="never", is_private=True)


def _answer(found: AnalysisRequest) -> QuestionDocument:
    return QuestionDocument(
        id=found.id or 0,
        is_done=found.is_done,
        problem=found.problem,
        answer=Thought.model_validate(found.answer) if found.is_done else None,
    )
