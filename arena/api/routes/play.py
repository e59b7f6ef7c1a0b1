"""Games of people against bots: start a game, read its state, move."""

from __future__ import annotations

from typing import Any

from arena import services
from arena.api.registry import FamilyName, GameId, In, Routes
from arena.api.routes.families import checked
from arena.documents.human_game import DecisionRequest, OpenGameItem, OpponentItem, PlayRequest, PlayResponse
from arena.documents.query import PageResponse
from arena.http.problem import PREFIX
from arena.http.request_context import RequestContext, RouteResult, address_key
from arena.services.people import Visitor

routes = Routes()
_ROUTE: dict[str, Any] = {"tag": "play", "scope": "submit"}


def _visitor(call: RequestContext) -> Visitor:
    return Visitor(call.user, cookie="", address=address_key(call.request))


class OpponentsQuery(In):
    """The family to play."""

    family: FamilyName


@routes.get(
    "/opponents",
    tag="play",
    summary="List bots that people may play",
    problems=("not-found",),
    example="/api/v1/opponents?family=loa",
)
async def opponents(call: RequestContext, query: OpponentsQuery) -> PageResponse[OpponentItem]:
    """List the bots that people may play: the weakest first, those without a rating last."""
    await call.run(checked, query.family)
    bots = await call.run(services.people.opponents, call.arena, query.family)
    return PageResponse(bots)


@routes.get("/play", summary="List your open games", **_ROUTE)
async def page(call: RequestContext) -> RouteResult[PageResponse[OpenGameItem]]:
    """List your games that are running or wait for a slot, oldest first."""
    items = await call.run(services.people_game.games_of, call.arena, _visitor(call))
    return RouteResult(PageResponse(items), keep="never", is_private=True)


@routes.post(
    "/play",
    summary="Start a game against a bot",
    status=201,
    is_idempotent=True,
    problems=("not-found", "invalid", "forbidden"),
    example="""/api/v1/play -d '{"family": "loa", "bot": "greedy", "side": "first"}'""",
    **_ROUTE,
)
async def begin(call: RequestContext, body: PlayRequest) -> RouteResult[PlayResponse]:
    """Start a game. It begins when a slot is free; `GET /games/{game}/stream` reports each ply."""
    by = _visitor(call)
    await call.run(checked, body.family)
    game = await call.run(services.people.begin, call.arena, body, by)
    headers = {"Location": f"{PREFIX}/play/{game}"}
    state = await call.run(services.people_game.see, call.arena, game, by)
    return RouteResult(state, status=201, keep="never", headers=headers, is_private=True)


@routes.get("/play/{game}", summary="Get your game", problems=("not-found", "forbidden"), **_ROUTE)
async def show(call: RequestContext, game: GameId) -> RouteResult[PlayResponse]:
    """Return the state of your own game. Others read `/games/{game}`."""
    state = await call.run(services.people_game.see, call.arena, game, _visitor(call))
    return RouteResult(state, keep="never", is_private=True)


@routes.post(
    "/play/{game}/decisions",
    summary="Move, offer or accept a draw, resign, or take back a move",
    status=202,
    problems=("not-found", "forbidden", "conflict", "invalid"),
    **_ROUTE,
)
async def decide(call: RequestContext, game: GameId, body: DecisionRequest) -> RouteResult[PlayResponse]:
    """Send a decision. Read the game again, or its stream, to see the effect. Taking back a move makes the game
    unrated.
    """
    by = _visitor(call)
    await call.run(services.people_game.decide, call.arena, game, body, by)
    state = await call.run(services.people_game.see, call.arena, game, by)
    return RouteResult(state, status=202, keep="never", is_private=True)
