"""A person plays a bot: begins a game, sees how it stands, and decides."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from arena import services
from arena.api.page import Page
from arena.api.registry import Routes
from arena.api.routes.families import checked
from arena.api.schemas import FamilyName, GameId, In
from arena.api.schemas.play import DecisionWish, OpenGameItem, OpponentItem, PlayDocument, PlayWish
from arena.http.api_paths import PREFIX
from arena.http.request_context import RequestContext, RouteResult, address_key
from arena.services.people import Decided, PersonView, Visitor, Wish

routes = Routes()
_TOLD = ("id", "family", "variant", "first", "second", "state", "is_rated")
_WORDS: dict[str, Any] = {"tag": "play", "scope": "submit"}


def _visitor(call: RequestContext) -> Visitor:
    return Visitor(call.user, "", address_key(call.request))


class OpponentsQuery(In):
    """Which family."""

    family: FamilyName


@routes.get(
    "/opponents",
    tag="play",
    summary="Bots that people play",
    problems=("not-found",),
    example="/api/v1/opponents?family=loa",
)
async def opponents(call: RequestContext, query: OpponentsQuery) -> Page[OpponentItem]:
    """The samples, then the bots whose owners allow it."""
    await call.run(checked, query.family)
    found = await call.run(services.people.opponents, call.arena, query.family)
    return Page(items=[OpponentItem(bot=name.rpartition(" v")[0], version=name) for _, name in found])


@routes.get("/play", summary="One's own open games", **_WORDS)
async def page(call: RequestContext) -> RouteResult[Page[OpenGameItem]]:
    """The games that are played or wait for a slot, in the order they were begun in."""
    lines = await call.run(services.people.mine, call.arena, _visitor(call))
    items = [
        OpenGameItem.model_validate({**asdict(line), "id": line.game_id, "plies": len(line.plies)}) for line in lines
    ]
    return RouteResult(Page(items=items), keep="never", is_private=True)


@routes.post(
    "/play",
    summary="Begin a game against a bot",
    status=201,
    is_idempotent=True,
    problems=("not-found", "invalid", "forbidden"),
    example="""/api/v1/play -d '{"family": "loa", "bot": "greedy", "side": "first"}'""",
    **_WORDS,
)
async def begin(call: RequestContext, body: PlayWish) -> RouteResult[PlayDocument]:
    """The referee plays it as soon as it has room; `GET /games/{game}/stream` tells each ply as it is played."""
    by = _visitor(call)
    await call.run(checked, body.family)
    version = await call.run(services.people.opponent, call.arena, body.family, body.bot)
    wish = Wish(
        family=body.family,
        version=version,
        variant=body.variant or "",
        side=body.side or "",
        time=body.time,
        is_rated=body.is_rated,
    )
    game = await call.run(services.people.begin, call.arena, wish, by)
    headers = {"Location": f"{PREFIX}/play/{game}"}
    found = await call.run(services.people.see, call.arena, game, by)
    return RouteResult(_document(found), status=201, keep="never", headers=headers, is_private=True)


@routes.get("/play/{game}", summary="How a game of one's own stands", problems=("not-found", "forbidden"), **_WORDS)
async def show(call: RequestContext, game: GameId) -> RouteResult[PlayDocument]:
    """Whoever plays it; others read `/games/{game}`."""
    found = await call.run(services.people.see, call.arena, game, _visitor(call))
    return RouteResult(_document(found), keep="never", is_private=True)


@routes.post(
    "/play/{game}/decisions",
    summary="Move, offer or take a draw, resign, take a move back",
    status=202,
    problems=("not-found", "forbidden", "conflict", "invalid"),
    **_WORDS,
)
async def decide(call: RequestContext, game: GameId, body: DecisionWish) -> RouteResult[PlayDocument]:
    """The referee does it at once: read the game again, or its stream. A game of which a move was taken back is not
    rated."""
    by = _visitor(call)
    ply = body.ply
    if ply is None:
        ply = len((await call.run(services.people.see, call.arena, game, by)).line.plies)
    wish = Decided(do=body.do, ply=ply, move=body.move.strip(), draw=body.draw)
    await call.run(services.people.decide, call.arena, game, wish, by)
    found = await call.run(services.people.see, call.arena, game, by)
    return RouteResult(_document(found), status=202, keep="never", is_private=True)


def _document(found: PersonView) -> PlayDocument:
    line, game, end = found.line, found.game, found.study.end
    is_over = game.winner is not None and game.termination is not None
    return PlayDocument.model_validate(
        {
            **{name: getattr(game, name) for name in _TOLD},
            "side": line.side,
            "ahead": found.ahead,
            "start": found.study.start,
            "moves": found.study.moves,
            "position": str(end),
            "to_move": None if end.outcome or is_over else end.side,
            "draw": asdict(found.offer) if found.offer else None,
            "outcome": {"winner": game.winner, "termination": game.termination} if is_over else None,
        }
    )
