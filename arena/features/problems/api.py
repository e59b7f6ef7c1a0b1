"""Problems: add them, solve them against the best defence, and list the solvers."""

from __future__ import annotations

from typing import Any

from arena.api.registry import FamilyName, Number, Routes
from arena.documents.query import PageResponse
from arena.features.problems import service
from arena.features.problems.documents import (
    AttemptRequest,
    AttemptResponse,
    HintResponse,
    MonthRequest,
    SolutionResponse,
    SolverLine,
    SolverQuery,
    WinProblemItem,
    WinProblemQuery,
    WinProblemRequest,
    WinProblemResponse,
)
from arena.http.problem import PREFIX
from arena.http.request_context import RequestContext, RouteResult

routes = Routes()
_ROUTE: dict[str, Any] = {"tag": "problems", "scope": "submit"}


@routes.get("/problems", tag="problems", summary="List problems", problems=("not-found",))
async def page(call: RequestContext, query: WinProblemQuery) -> PageResponse[WinProblemItem]:
    """List positions in which the side to move wins, latest first."""
    return await call.run(service.search, call.arena, query)


@routes.get(
    "/problems/solvers",
    tag="problems",
    summary="List solvers",
    problems=("not-found",),
    example=("/api/v1/problems/solvers?family=loa"),
)
async def solvers(call: RequestContext, query: SolverQuery) -> PageResponse[SolverLine]:
    """List the solvers of a family's problems by rating (mu - 3 sigma), which their attempts determine."""
    return await call.run(service.solvers, call.arena, query)


@routes.get("/problems/next/{family}", summary="Get a problem near your strength", problems=("not-found",), **_ROUTE)
async def next_(call: RequestContext, family: FamilyName) -> RouteResult[WinProblemResponse]:
    """Return the problem nearest to your strength that you have not tried yet."""
    found = await call.run(service.next_problem, call.arena, family, call.user)
    return RouteResult(found, keep="never", is_private=True)


@routes.get("/problems/{number}", tag="problems", summary="Get a problem")
async def show(call: RequestContext, number: Number) -> WinProblemResponse:
    """Return a problem with its position. `state` tells whether the solver has proved it."""
    return await call.run(service.read, call.arena, number)


@routes.post(
    "/problems",
    summary="Set a problem",
    status=201,
    is_idempotent=True,
    problems=("not-found", "invalid", "forbidden", "conflict"),
    example="""/api/v1/problems -d '{"family": "loa", "max_moves": 3, \
"position": "1bbbbbb1/w6w/w6w/w6w/w6w/w6w/w6w/1bbbbbb1 b - 1"}'""",
    **_ROUTE,
)
async def add(call: RequestContext, body: WinProblemRequest) -> RouteResult[WinProblemResponse]:
    """Add a problem. The solver then tries to prove that the side to move wins.

    Read the problem again to see its `state`.
    """
    found = await call.run(service.add, call.arena, body, call.user)
    headers = {"Location": f"{PREFIX}/problems/{found.id}"}
    return RouteResult(found, status=201, keep="never", headers=headers, is_private=True)


@routes.post("/problems/{number}/remove", summary="Remove a problem", problems=("not-found", "forbidden"), **_ROUTE)
async def remove(call: RequestContext, number: Number) -> None:
    """Remove a problem that you added; organisers can remove any. The ratings of users who tried it do not change."""
    await call.run(service.remove, call.arena, number, call.user)


@routes.post(
    "/problems/{number}/attempts",
    summary="Try to solve a problem",
    problems=("not-found", "conflict", "invalid"),
    **_ROUTE,
)
async def attempt(call: RequestContext, number: Number, body: AttemptRequest) -> RouteResult[AttemptResponse]:
    """Send the moves so far and a new one; the answer ends with the best defence. Your first attempt is rated."""
    moves = body.moves.split()
    found = await call.run(service.attempt, call.arena, number, moves, call.user)
    return RouteResult(found, keep="never", is_private=True)


@routes.post("/problems/{number}/hint", summary="Get a hint", problems=("not-found", "conflict"), **_ROUTE)
async def hint(call: RequestContext, number: Number) -> RouteResult[HintResponse]:
    """Return the cells on which the first move starts. An undecided first attempt then counts as failed."""
    found = await call.run(service.hint, call.arena, number, (), call.user)
    return RouteResult(found, keep="never", is_private=True)


@routes.post("/problems/{number}/solution", summary="Get the solution", problems=("not-found", "conflict"), **_ROUTE)
async def solution(call: RequestContext, number: Number) -> RouteResult[SolutionResponse]:
    """Return all solutions of the problem. An undecided first attempt of yours then counts as failed."""
    found = await call.run(service.solution, call.arena, number, call.user)
    return RouteResult(found, keep="never", is_private=True)


@routes.put(
    "/problems/{number}/month",
    tag="problems",
    scope="organise",
    summary="Choose the problem of a month",
    problems=("not-found", "conflict", "forbidden"),
)
async def month(call: RequestContext, number: Number, body: MonthRequest) -> RouteResult[WinProblemResponse]:
    """Make an accepted problem the problem of a month, by default of the current month."""
    found = await call.run(service.choose_of_month, call.arena, number, body.month, call.user)
    return RouteResult(found, keep="never", is_private=True)
