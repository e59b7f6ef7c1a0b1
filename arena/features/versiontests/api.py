"""Tests of two versions: begin, list and stop them."""

from __future__ import annotations

from arena.api.registry import BotName, Number, Routes
from arena.features.versiontests import service
from arena.features.versiontests.documents import VersionTestItem, VersionTestRequest, VersionTests
from arena.http.problem import PREFIX
from arena.http.request_context import RequestContext, RouteResult

routes = Routes()


@routes.post(
    "/tests",
    tag="bots",
    summary="Test two versions",
    scope="submit",
    status=201,
    is_idempotent=True,
    problems=("conflict", "not-found", "forbidden", "invalid"),
    example="""/api/v1/tests -d '{"candidate": "zeta v3", "baseline": "zeta v2", "family": "loa"}'""",
)
async def begin(call: RequestContext, body: VersionTestRequest) -> RouteResult[VersionTestItem]:
    """Begin a sequential test of two versions of your uploaded bots.

    Its games are unrated, and played when few other games wait. It ends as soon as it is decided, or after the games
    that the server allows.
    """
    test = await call.run(service.begin, call.arena, body, call.user)
    headers = {"Location": f"{PREFIX}/tournaments/{test.id}"}
    return RouteResult(test, status=201, headers=headers, is_private=True)


@routes.get("/bots/{bot}/tests", tag="bots", summary="List the tests of a bot", example="/api/v1/bots/zeta/tests")
async def of_bot(call: RequestContext, bot: BotName) -> RouteResult[VersionTests]:
    """List the tests of a bot's versions by its owner, the latest first."""
    return RouteResult(await call.run(service.of_bot, call.arena, bot), keep="never")


@routes.post(
    "/tests/{tournament}/stop",
    tag="bots",
    summary="Stop a test",
    scope="submit",
    problems=("conflict", "not-found", "forbidden", "invalid"),
)
async def stop(call: RequestContext, tournament: Number) -> RouteResult[VersionTestItem]:
    """Stop a test of yours: games that have not begun are not played. Organisers may stop every test."""
    return RouteResult(await call.run(service.stop, call.arena, tournament, call.user), is_private=True)
